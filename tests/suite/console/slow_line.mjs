// A moderator approves 150 photos at once on a slow line: 400 ms and 400 kbit/s.

import { showPictures, signIn } from "./steps.mjs";

const BYTES_PER_SECOND = 50_000;

export default async function slowLine({ site, moderator, eventId, photos, visitor }) {
  const page = await visitor();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tiles = page.getByRole("list", { name: "Pending photos" }).getByRole("listitem");
  for (let shown = 48; shown < photos; shown += 48) {
    await tiles.nth(shown - 1).waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
  }
  await tiles.nth(photos - 1).waitFor();
  for (const tile of await tiles.all()) await tile.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => [...document.querySelectorAll(".photo img")].every(({ complete }) => complete));

  let requests = 0;
  page.on("request", () => void (requests += 1));
  const line = await page.context().newCDPSession(page);
  await line.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  });
  await page.getByRole("button", { name: "Approve all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve all" }).click();
  await page.waitForFunction((all) => document.querySelectorAll(".state.success").length === all, photos, { timeout: 120_000 });
  return { requests, confirmedAt: new Date().toISOString() };
}
