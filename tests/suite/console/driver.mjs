// One browser for all journeys: reads a journey a line, as JSON, and answers with a line each.
//
// A journey is a module of this folder; its `default` gets what it needs and returns what it found.

import { createInterface } from "node:readline";
import { launched } from "../chromium.mjs";

const LIMIT_MS = 60_000;

const [executablePath, headers] = process.argv.slice(2);
const browser = await launched(executablePath);

for await (const line of createInterface({ input: process.stdin })) {
  const { journey, ...given } = JSON.parse(line);
  const contexts = [];
  const problems = [];
  try {
    const { default: make } = await import(`./${journey}.mjs`);
    const found = await make({ ...given, visitor: (options) => visitor(contexts, problems, options) });
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

// A profile of its own: nobody else's sign-in, nothing remembered.
async function visitor(contexts, problems, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    timezoneId: "Europe/Berlin",
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
    extraHTTPHeaders: JSON.parse(headers),
    ...options,
  });
  context.setDefaultTimeout(LIMIT_MS);
  contexts.push(context);
  const page = await context.newPage();
  // Violations of the content security policy are told here too.
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  return page;
}
