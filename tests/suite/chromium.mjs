// The browser of the tests: it opens what it is told to, and calls nobody by itself.

import { chromium } from "playwright-core";

export const launched = (executablePath) =>
  chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
