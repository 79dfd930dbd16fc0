// The network goes away while the list is looked at, and comes back.

import { delivered, row, signIn, upload } from "./steps.mjs";

export default async function offline({ site, admin, eventId, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/deliveries`);
  await page.getByText("Live", { exact: true }).waitFor();
  // A machine without any network never says that it has lost one; the SDK heeds this as well.
  page.removeAllListeners("console"); // a network that is gone is no problem of the page's
  await page.context().setOffline(true);
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await page.getByText("Connection lost. Showing the last known state").waitFor();
  const rows = await page.locator(".deliveries > li").count();
  // Views that were never opened are unknown: decided photos and recaps. Opened views may have changed.
  await page.getByRole("link", { name: "Overview" }).click();
  await page.locator("main").getByText("Last recap").waitFor();
  const unknown = await page.locator("main").innerText();
  await page.getByRole("link", { name: "Photos" }).click();
  await page.getByText("As of the last update: all caught up.").waitFor();
  await page.getByRole("link", { name: "Approved" }).click();
  await page.locator("main").getByText("You're offline.").waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  const told = await page.getByRole("banner").innerText();
  await upload(eventId, "p2");
  // Firestore's emulator can lose a write that it receives while it starts a listener again.
  await delivered(eventId);
  await page.context().setOffline(false);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByText("1 of 1 on").waitFor();
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await row(page, "photo.uploaded", "Delivered").waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  return { rows, unknown, told };
}
