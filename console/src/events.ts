// The maker of signed samples on the page of event types: `/events`. Everything stays in the browser.

import { signedCurl } from "./domain/curl.ts";

const EVENT_ID = "midsummer";

const field = (id: string) => document.getElementById(id) as HTMLInputElement;
const form = document.querySelector("form");
const told = document.querySelector("output");

/** The example that the page shows of a type, as it would be delivered now. */
function bodyOf(type: string, id: string, now: Date): string {
  const example = document.getElementById(type)?.closest("section")?.querySelector("pre")?.textContent ?? "";
  const body = JSON.parse(example) as Record<string, unknown>;
  return JSON.stringify({ ...body, eventId: EVENT_ID, deliveryId: id, timestamp: now.toISOString() });
}

async function make(): Promise<string> {
  const [event, secret, url] = ["sample-type", "sample-secret", "sample-url"].map((id) => field(id).value.trim()) as [string, string, string];
  const now = new Date();
  const id = crypto.randomUUID();
  return signedCurl({ id, event, url, body: bodyOf(event, id, now), test: true }, EVENT_ID, secret, now);
}

async function show(): Promise<void> {
  const command = document.getElementById("sample-command");
  if (!told || !command) return;
  command.textContent = await make();
  command.hidden = false;
  const isCopied = await navigator.clipboard.writeText(command.textContent).then(() => true, () => false);
  told.value = `${isCopied ? "Copied" : "Copy it from here"}. Its signature is good for five minutes.`;
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  void show();
});
if (form) form.hidden = false;
