// The browser of all tests: reads a journey a line, as JSON, and answers with a line each.
//
// A journey is a module below this folder; its `default` gets what it needs and returns what it found.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const LIMIT_MS = 60_000;

const [executablePath] = process.argv.slice(2);
// It opens only the given pages, and sends no requests itself.
const browser = await chromium.launch({
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

for await (const line of createInterface({ input: process.stdin })) {
  const { journey, headers, ...given } = JSON.parse(line);
  const contexts = [];
  const problems = [];
  const visitor = (options) => visited(contexts, problems, { extraHTTPHeaders: headers, ...options });
  try {
    const { default: make } = await import(`./${journey}.mjs`);
    const found = await make({ ...given, visitor });
    answer({ found: found ?? null, problems });
  } catch (error) {
    const page = contexts.at(-1)?.pages().at(-1);
    const seen = page && (await page.locator("body").innerText().catch(() => ""));
    answer({ failed: `${error.stack}\n\nThe page:\n${seen}\n\n${problems.join("\n")}` });
  } finally {
    for (const context of contexts) await context.close();
  }
}
await browser.close();

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

// A page in a separate profile, without sign-ins and history.
async function visited(contexts, problems, options) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    timezoneId: "Europe/Berlin",
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  context.setDefaultTimeout(LIMIT_MS);
  contexts.push(context);
  const page = await context.newPage();
  // Reports violations of the content security policy as well.
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  return page;
}
