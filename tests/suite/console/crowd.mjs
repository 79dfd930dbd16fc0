// A moderator takes photos down at an event with more photos than a page may list: behind the longest list, by
// the guest, several at once; and keys are as quick in a long list as in a short one.

import { showPictures, signIn } from "./steps.mjs";

export default async function crowd({ site, moderator, eventId, visitor }) {
  const found = {};
  const page = await visitor();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos/approved`);
  const tiles = page.getByRole("list", { name: "Approved photos" }).getByRole("listitem");
  const more = page.getByRole("button", { name: "Show more" });
  await tiles.nth(47).waitFor();
  found.emptyBars = await page.locator(".grid-actions").count();
  found.short = await page.evaluate(keyTime);
  for (let shown = 96; shown <= 480; shown += 48) {
    await more.click();
    await tiles.nth(shown - 1).waitFor({ state: "attached" });
  }
  found.long = await page.evaluate(keyTime);

  // Behind the longest list.
  await more.click();
  await page.getByRole("button", { name: "Back to the beginning" }).waitFor();
  await tiles.filter({ hasText: "Guest 0" }).getByRole("button", { name: "Hide" }).click();
  await page.getByText("Hidden: photo by Guest 0").waitFor();
  found.behind = await tiles.count();
  await page.evaluate(() => scrollTo(0, 1e6));
  const [way, bar] = await Promise.all([page.locator(".middle-row"), page.locator(".grid-actions")].map((part) => part.boundingBox()));
  found.covered = way.y + way.height - bar.y;
  await page.getByRole("button", { name: "Back to the beginning" }).click();
  await tiles.nth(47).waitFor();

  // One guest's, by a name in small letters and by the address: five at once.
  const guest = page.getByLabel("Search guests");
  await guest.fill("nadia");
  await page.waitForFunction(() => document.querySelectorAll(".photo").length === 6);
  await guest.fill("nadia@example.com");
  await page.waitForFunction(() => document.querySelectorAll(".photo").length === 5);
  for (const tile of await tiles.all()) await tile.getByLabel("Select photo by Nadia").check();
  await page.getByRole("button", { name: "Hide 5" }).click();
  await page.getByText("No approved photos yet for this guest").waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".photo .badge.retrying").length === 0);
  await guest.fill("nobody");
  await page.getByText("Search by the start of a name").waitFor();
  return found;
}

// Milliseconds from a key to the layout that it leads to, the shortest of many: others use the processor, too.
async function keyTime() {
  const times = [];
  document.querySelector(".photo .picture").focus();
  for (let press = 0; press < 30; press += 1) {
    const before = performance.now();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    await new Promise((drawn) => setTimeout(drawn));
    document.body.getBoundingClientRect();
    times.push(performance.now() - before);
  }
  return Math.min(...times);
}
