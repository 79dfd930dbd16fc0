// The network goes away while the list is looked at, and comes back.

import { row, signIn, upload } from "./steps.mjs";

export default async function offline({ site, admin, eventId, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/deliveries`);
  await page.getByText("Live", { exact: true }).waitFor();
  // A machine without any network never says that it has lost one; the SDK heeds this as well.
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await page.getByText("Offline: this is what was known last").waitFor();
  const rows = await page.locator(".body .row").count();
  await upload(eventId, "p2");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await row(page, "photo.uploaded", "Delivered").waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  return { rows };
}
