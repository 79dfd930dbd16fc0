// An admin sends the failed deliveries again that are shown, after a question; another one fails meanwhile.

import { healthShown, signIn, write } from "./steps.mjs";

export default async function again({ site, admin, eventId, late, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/receivers?outcome=failed`);
  const rows = page.locator(".deliveries > li");
  await rows.nth(1).waitFor();
  await page.getByRole("button", { name: "Resend these 2 deliveries…" }).click();
  await healthShown(page);
  const dialog = page.getByRole("dialog");
  const asked = await dialog.innerText();
  await write(late, { outcome: "failed" });
  await rows.nth(2).waitFor();
  await dialog.getByRole("button", { name: "Resend" }).click();
  await dialog.getByText("2 deliveries queued for resending.").waitFor();
  return { asked };
}
