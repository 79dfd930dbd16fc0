// An admin makes a link, somebody without an account opens it and sends a delivery again, and the
// admin ends it.

import { signIn } from "./steps.mjs";

export default async function sharing({ site, admin, eventId, path, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/sharing`);
  const label = page.getByLabel("URL").locator("option", { hasText: path });
  await page.getByLabel("URL").selectOption(await label.getAttribute("value"));
  await page.getByLabel("Ends after").selectOption("3");
  await page.getByLabel("Deliveries can be sent again").check();
  await page.getByRole("button", { name: "Make a link" }).click();
  const link = await page.locator("[data-link]").innerText();

  const guest = await visitor();
  const requests = [];
  guest.on("request", (request) => requests.push(request.url()));
  await guest.goto(link);
  const rows = guest.locator(".body .row");
  await rows.first().waitFor();
  const found = { link, address: guest.url(), rows: await rows.count() };
  found.head = await guest.getByRole("banner").innerText();
  await rows.first().getByRole("link").click();
  await guest.getByRole("heading", { name: "Attempts" }).waitFor();
  found.sheet = await guest.locator("main").innerText();
  await guest.getByRole("button", { name: "Send again" }).click();
  await guest.getByText("Sent again, 1st time").waitFor();
  await guest.getByText("200 OK").waitFor();
  await guest.reload();
  await guest.getByText("Sent again, 1st time").waitFor();
  await guest.getByRole("link", { name: "Signature checker" }).click();
  await guest.getByRole("heading", { name: "Signature checker" }).waitFor();
  await guest.goBack();
  await guest.getByRole("link", { name: "All deliveries" }).click();

  await page.getByRole("button", { name: /^End it now/ }).click();
  await page.getByRole("heading", { name: "No active link" }).waitFor();
  await guest.getByRole("button", { name: "Refresh" }).click();
  await guest.getByRole("heading", { name: "This link has ended" }).waitFor();
  found.requests = requests;
  return found;
}
