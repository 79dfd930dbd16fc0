// The way to the server is silent while a moderator approves a photo: the repeated request arrives twice.

import { showPictures, signIn } from "./steps.mjs";

export default async function unconfirmed({ site, moderator, eventId, visitor }) {
  const found = {};
  const page = await visitor();
  await page.clock.install();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tile = page.getByRole("list", { name: "Pending photos" }).getByRole("listitem");
  await tile.waitFor();
  page.removeAllListeners("console"); // a network that is gone is no problem of the page's
  let first = null;
  await page.route(/commit/, async (route) => {
    if (!first) return void (first = route);
    // The request that seemed lost arrives before its repetition.
    const { url, headers, body } = sent(first.request());
    await fetch(url, { method: "POST", headers, body });
    await route.continue();
  });
  const commit = page.waitForRequest(/commit/);
  await tile.getByRole("button", { name: "Approve" }).click();
  await commit;
  // Long before the page gives an answer up.
  await page.clock.fastForward(3000);
  await tile.getByText("Approving (still saving…)").waitFor();
  found.told = await page.locator(".notice").innerText();
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  found.asked = question.type();
  await question.dismiss();

  await first.abort();
  await page.clock.runFor(5000);
  await tile.getByText("Approved").waitFor();
  found.refused = await page.locator("main").getByRole("alert").allInnerTexts();
  const token = page.waitForResponse(/securetoken/);
  await page.clock.fastForward(3_600_000);
  await token;
  await tile.getByRole("button", { name: "Hide" }).click();
  await tile.getByText("Rejected").waitFor();

  // The session ends in another tab, and a decision is on its way.
  await page.unroute(/commit/);
  await page.route(/commit/, () => {});
  await page.clock.fastForward(1500);
  await tile.getByRole("button", { name: "Undo (approve)" }).click();
  await tile.getByText("Hiding…").or(tile.getByText("Approving…")).waitFor();
  const other = await page.context().newPage();
  await other.goto(`${site}/console`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.clock.runFor(2000);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  found.ended = await page.locator(".notice").innerText();
  return found;
}

function sent(request) {
  return { url: request.url(), headers: request.headers(), body: request.postData() };
}
