// A moderator decides on photos, by keyboard and by mouse; an admin makes, publishes and archives an
// event.

import { signIn } from "./steps.mjs";

export default async function photos({ site, admin, moderator, eventId, newId, visitor }) {
  const found = {};
  let page = await visitor();
  await page.route("https://photos.example.com/**", (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  );
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const grid = page.getByRole("list", { name: "Waiting photos" });
  const tiles = grid.getByRole("listitem");
  await tiles.nth(23).waitFor();
  await page.getByRole("button", { name: "Older" }).click();
  await page.getByText("Page 2").waitFor();
  await tiles.nth(5).waitFor();
  found.onSecondPage = await tiles.count();
  await page.getByRole("button", { name: "Newer" }).click();
  await tiles.nth(23).waitFor();

  // By keyboard alone: approve the first, reject the one that takes its place, delete the next.
  await tiles.first().getByRole("button", { name: "Look at the photo of Guest 0", exact: true }).focus();
  await page.keyboard.press("a");
  await page.getByText("Approved: photo of Guest 0.").waitFor();
  await page.keyboard.press("r");
  await page.getByText("Rejected: photo of Guest 1.").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted: photo of Guest 3.").waitFor();

  // By mouse, with a reason.
  await tiles.first().getByRole("button", { name: "Look at" }).click();
  await dialog.getByLabel("Reason").fill("blurred");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await page.getByText("Rejected: photo of Guest 2.").waitFor();

  await page.getByRole("link", { name: "Approved", exact: true }).click();
  const approved = page.getByRole("list", { name: "Approved photos" }).getByRole("listitem");
  await approved.getByRole("button", { name: "Feature" }).click();
  await approved.getByText("Featured").waitFor();
  await approved.getByRole("button", { name: "Take down" }).click();
  await page.getByText("No photo is approved yet").waitFor();
  await page.getByText("Taken down: photo of").waitFor();

  page = await visitor();
  await signIn(page, site, admin);
  await page.getByRole("button", { name: "New event" }).click();
  await page.getByLabel("Name").fill("Anna & Björn");
  found.suggested = await page.getByLabel("Id", { exact: true }).inputValue();
  await page.getByLabel("Id", { exact: true }).fill(eventId);
  await page.getByRole("button", { name: "Make the event" }).click();
  found.taken = await page.getByRole("alert").innerText();
  await page.getByLabel("Id", { exact: true }).fill(newId);
  await page.getByRole("button", { name: "Make the event" }).click();
  for (const [action, shown] of [["Publish", "Published"], ["Archive", "Archived"]]) {
    await page.getByRole("button", { name: `${action}…` }).click();
    await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();
    await page.locator("main .badge").getByText(shown).waitFor();
  }
  await page.getByRole("button", { name: "Publish again…" }).waitFor();

  await page.goto(`${site}/console#/events/${eventId}`);
  await page.getByRole("button", { name: "Count them" }).click();
  await page.locator(".tile .figure").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton"));
  found.tiles = await page.locator(".tile").allInnerTexts();
  return found;
}
