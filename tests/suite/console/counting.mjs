// How many documents each view reads.

import { countReads, signIn } from "./steps.mjs";

export default async function counting({ site, admin, eventId, deliveryId, visitor }) {
  const page = await visitor();
  const reads = await countReads(page);
  const found = {};
  await signIn(page, site, admin);
  await page.getByRole("heading", { name: "Events" }).waitFor();
  await page.locator("li", { hasText: eventId }).waitFor();

  found.list = await counted(page, reads, `#/events/${eventId}/deliveries`, async () => {
    await page.locator(".body .row").nth(24).waitFor({ state: "attached" });
  });
  const before = await reads();
  await page.getByRole("button", { name: "Show older" }).click();
  await page.locator(".body .row").nth(49).waitFor({ state: "attached" });
  found.older = less(await reads(), before);
  found.delivery = await counted(page, reads, `#/events/${eventId}/deliveries/${deliveryId}`, async () => {
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
  });
  return found;
}

async function counted(page, reads, place, shown) {
  // A fresh page, so that nothing is known from before.
  await page.goto("about:blank");
  await page.goto(`http://127.0.0.1:5000/console${place}`);
  await shown();
  return reads();
}

function less(one, other) {
  return {
    documents: one.documents - other.documents,
    aggregations: one.aggregations - other.aggregations,
  };
}
