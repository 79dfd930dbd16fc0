// The way to the server is dead while a moderator approves a photo, and comes back.

import { showPictures, signIn } from "./steps.mjs";

export default async function unconfirmed({ site, moderator, eventId, visitor }) {
  const found = {};
  const page = await visitor();
  await page.clock.install();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tile = page.getByRole("list", { name: "Waiting photos" }).getByRole("listitem");
  await tile.waitFor();
  page.removeAllListeners("console"); // a network that is gone is no problem of the page's
  const hangs = () => {};
  await page.route(/batchGet|commit/, hangs);
  await tile.getByRole("button", { name: "Approve" }).click();
  // Long before the page gives an answer up.
  await page.clock.fastForward(3000);
  await tile.getByText("Not confirmed yet").waitFor({ timeout: 8000 });
  found.told = await page.locator(".notice").innerText();
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  found.asked = question.type();
  await question.dismiss();
  await page.unroute(/batchGet|commit/);
  await tile.getByText("Approved").waitFor();
  const token = page.waitForResponse(/securetoken/);
  await page.clock.fastForward(3_600_000);
  await token;
  await tile.getByRole("button", { name: "Undo" }).click();
  await tile.getByText("Rejected").waitFor();
  return found;
}
