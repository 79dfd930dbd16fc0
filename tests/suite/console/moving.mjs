// Guests go on uploading while a moderator decides on a phone: by key, by tap, twice at one place, on photos
// that were swapped, and on one that a colleague has decided on.

import { showPictures, signIn, upload, write } from "./steps.mjs";

const LONG_NAME = "Anna-Lena Wasser";

export default async function moving({ site, moderator, eventId, swapped, visitor }) {
  const found = {};
  const page = await visitor({ viewport: { width: 390, height: 844 } });
  await page.clock.install();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tiles = page.getByRole("list", { name: "Pending photos" }).getByRole("listitem");
  const tile = (name) => tiles.filter({ has: page.getByText(name, { exact: true }) });
  const path = (number) => `events/${eventId}/photos/p${number}`;

  const height = async () => (await tile("Guest 2").boundingBox()).y;
  const before = await height();
  found.first = (await tile("Guest 0").boundingBox()).y;

  // Between look and key; the key beside it is pressed too soon after.
  await tile("Guest 0").getByRole("button", { name: "View" }).focus();
  await upload(eventId, "late-1", "Late 1");
  await tile("Late 1").waitFor();
  found.order = await tiles.locator(".by").allInnerTexts();
  await page.keyboard.press("r");
  await page.getByText("Rejected: photo by").waitFor();
  await page.keyboard.press("u");

  // Between look and click.
  const aim = async (name, button) => {
    const { x, y, width, height } = await tile(name).getByRole("button", { name: button }).boundingBox();
    return [x + width / 2, y + height / 2];
  };
  const approve = await aim("Guest 1", "Approve");
  await upload(eventId, "late-2", LONG_NAME);
  await tile(LONG_NAME).waitFor();
  found.cut = await tile(LONG_NAME).evaluate((tile) => tile.querySelector(".by").scrollWidth <= tile.clientWidth && tile.querySelector(".by").scrollWidth > tile.querySelector(".by").clientWidth);
  await page.mouse.click(...approve);
  await page.getByText("Approved: photo by").waitFor();
  found.moved = (await height()) - before;

  // Twice at one place.
  await tile("Guest 3").evaluate((element) => element.scrollIntoView({ block: "center" }));
  const reject = await aim("Guest 3", "Reject");
  await page.mouse.click(...reject);
  await page.getByText("Rejected: photo by Guest 3").waitFor();
  await page.mouse.click(...reject);
  await page.clock.fastForward(1500);
  await page.locator('[data-id=p3] [aria-disabled=false]').getByText("Undo (approve)").waitFor();

  // A colleague is faster.
  await write(path(4), { status: "rejected", rejectedBy: "colleague@example.com" });
  await tile("Guest 4").getByText("Rejected by").waitFor();
  found.elsewhere = await tile("Guest 4").locator(".state").innerText();
  await tile("Guest 4").getByRole("button", { name: "View" }).click();
  found.dialog = await page.getByRole("dialog").innerText();
  await page.keyboard.press("Escape");

  // Another picture takes the photo's place before the decision arrives.
  await page.route(/batchGet/, async (route) => {
    const [number] = /(?<=photos[/]p)[0-9]/.exec(route.request().postData());
    await write(path(number), { ...swapped, createdAt: new Date(swapped.createdAt) });
    await route.continue();
  });
  const told = page.locator("main").getByRole("alert");
  await tile("Guest 2").getByRole("button", { name: "Approve" }).click();
  found.swapped = await told.innerText();
  await page.locator("[data-id=p5]").getByRole("button", { name: "Reject" }).click();
  await told.filter({ hasText: "2 changes" }).waitFor();
  found.refused = await told.innerText();
  found.onTile = await page.locator("[data-id=p5] .state").innerText();
  found.green = await page.locator(".state.success").allInnerTexts();
  found.barHeight = (await page.locator(".grid-actions").boundingBox()).height;
  // The network goes, and comes back. Nothing is written from here on: Firestore's emulator can lose a write that it
  // receives while it starts a listener again.
  const online = await height();
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await page.getByText("You're offline").waitFor();
  await page.getByText("Connection lost. Showing the last known state").waitFor();
  found.offline = (await height()) - online;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  // A room begins at its top, wherever the room before was left.
  await page.evaluate(() => scrollTo(0, 1e6));
  await page.getByRole("link", { name: "Recap" }).click();
  await page.getByRole("heading", { name: "Next recap" }).waitFor();
  found.top = await page.evaluate(() => scrollY);
  return found;
}
