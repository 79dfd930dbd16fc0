// How many documents each view reads, and how many aggregations it asks for.

import { countReads, loaded, signIn } from "./steps.mjs";

/** Milliseconds after which a page asks again if there is news. */
const SECONDS_LATER = 10_000;

export default async function counting({ site, superadmin, eventId, deliveryId, receiver, visitor }) {
  const page = await visitor();
  const reads = await countReads(page);
  await page.clock.install();
  await signIn(page, site, superadmin);
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor();

  // A new page for each, without a cache.
  const counted = async (place, shown) => {
    await page.goto("about:blank");
    await page.goto(`${site}/console#/events/${eventId}/${place}`);
    await shown.waitFor({ state: "attached" });
    await page.locator(".event-name .badge").waitFor();
    await loaded(page);
    await page.clock.fastForward(SECONDS_LATER);
    return reads();
  };
  const rows = page.locator(".deliveries > li");
  // The last that a view of receivers knows.
  const failing = page.getByText("Failing since").first();
  const found = { list: await counted("receivers", failing) };
  const before = await reads();
  await page.getByRole("button", { name: "Show older" }).click();
  await rows.nth(49).waitFor({ state: "attached" });
  await page.clock.fastForward(SECONDS_LATER);
  found.older = less(await reads(), before);
  found.filtered = await counted("receivers?outcome=skipped&type=guest.joined", failing);
  found.delivery = await counted(`deliveries/${deliveryId}`, page.getByRole("link", { name: "View endpoint" }));
  found.receiver = await counted(`receivers/${receiver}`, failing);
  found.recap = await counted("recap", page.getByRole("heading", { name: "No recaps yet" }));
  found.overview = await counted("overview", page.getByText("1 of 1 failing"));
  return found;
}

function less(one, other) {
  return {
    documents: one.documents - other.documents,
    aggregations: one.aggregations - other.aggregations,
  };
}
