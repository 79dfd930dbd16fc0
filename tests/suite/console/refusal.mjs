// The rules refuse one of several photos that are approved together.

import { showPictures, signIn } from "./steps.mjs";

export default async function refusal({ site, moderator, eventId, refused, visitor }) {
  const page = await visitor();
  await showPictures(page);
  // A slow page repeats commits. Their sizes stay the same.
  const sizes = new Set();
  await page.route(/commit/, (route) => {
    const photos = new Set(route.request().postData().match(/photos\/[^"]+(?=")/g));
    if (!photos.has(`photos/${refused}`)) return route.continue();
    sizes.add(photos.size);
    return route.fulfill({ status: 403, json: { error: { code: 403, status: "PERMISSION_DENIED" } } });
  });
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tiles = page.getByRole("list", { name: "Pending photos" }).getByRole("listitem");
  await tiles.nth(5).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll(".photo img")].every(({ complete }) => complete));
  await page.getByRole("button", { name: "Approve all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve all" }).click();
  await page.locator("main").getByRole("alert").waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".state.success").length === 5);
  return { refused: await page.locator("main").getByRole("alert").count(), sizes: [...sizes] };
}
