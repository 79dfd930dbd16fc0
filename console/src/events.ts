// The samples on the page of event types: `/events`. A sample is a command that signs its own request.

import { signingCurl } from "./domain/curl.ts";

const EVENT_ID = "midsummer";

const field = (id: string) => document.getElementById(id) as HTMLInputElement;
const form = document.querySelector("form");
const told = document.querySelector("output");

/** The example that the page shows of a type, as it would be delivered now. */
function bodyOf(type: string, id: string): string {
  const example = document.getElementById(type)?.closest("section")?.querySelector("pre")?.textContent ?? "";
  const body = JSON.parse(example) as Record<string, unknown>;
  return JSON.stringify({ ...body, eventId: EVENT_ID, deliveryId: id, timestamp: new Date().toISOString() });
}

form?.addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  const command = document.getElementById("sample-command");
  if (!told || !command) return;
  const event = field("sample-type").value;
  const id = crypto.randomUUID();
  command.textContent = signingCurl({ id, event, url: field("sample-url").value.trim(), body: bodyOf(event, id), test: true }, EVENT_ID);
  command.hidden = false;
  const isCopied = await navigator.clipboard.writeText(command.textContent).then(() => true, () => false);
  told.value = isCopied ? "Copied" : "Copy it from here";
});
if (form) form.hidden = false;
