// An admin creates a link, a person without an account opens it and sends a delivery again, and the
// admin ends it.

import { signIn } from "./steps.mjs";

export default async function sharing({ site, admin, eventId, receiver, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/receivers/${receiver}`);
  const share = page.locator(".actions").filter({ hasText: "Send test…" }).getByRole("button", { name: "Share log…" });
  const { y } = await share.boundingBox();
  await page.locator(".health").waitFor();
  const moved = (await share.boundingBox()).y - y;
  await share.click();
  await page.getByLabel("Expires after").selectOption("3");
  await page.getByLabel("Allow resending deliveries").check();
  await page.getByRole("button", { name: "Create link" }).click();
  const link = await page.locator("[data-link]").innerText();
  await page.keyboard.press("Escape");

  const guest = await visitor({ locale: "de-DE" });
  const requests = [];
  guest.on("request", (request) => requests.push(request.url()));
  await guest.goto(link);
  const rows = guest.locator(".deliveries > li");
  await guest.getByLabel("Outcome").selectOption("failed");
  await rows.first().waitFor();
  const found = { link, moved, rows: await rows.count() };
  found.head = await guest.getByRole("banner").innerText();
  found.list = await guest.locator("main").innerText();
  await rows.first().getByRole("link").click();
  await guest.getByRole("heading", { name: "Attempts" }).waitFor();
  found.sheet = await guest.locator("main").innerText();
  await guest.getByRole("button", { name: "Resend" }).click();
  await guest.getByText("Resend 1").waitFor();
  await guest.getByText("200 OK").waitFor();
  found.address = guest.url().replace(/#.*/, "");
  await guest.getByRole("link", { name: "All deliveries" }).click();
  await guest.getByLabel("Outcome").selectOption("");
  await rows.first().getByRole("link").click();
  await guest.reload();
  await guest.getByText("Resend 1").waitFor();
  await guest.getByRole("link", { name: "All deliveries" }).click();

  found.made = await page.getByRole("region", { name: "Shared logs" }).innerText();
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("No active links.").waitFor();
  await guest.getByRole("button", { name: "Refresh" }).click();
  await guest.getByRole("heading", { name: "This link has expired" }).waitFor();
  found.requests = requests;
  return found;
}
