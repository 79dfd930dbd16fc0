// Guests go on uploading while a moderator decides: by key, by mouse, and on a photo that was swapped.

import { showPictures, signIn, upload, write } from "./steps.mjs";

export default async function moving({ site, moderator, eventId, swapped, visitor }) {
  const found = {};
  const page = await visitor({ viewport: { width: 390, height: 844 } });
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tiles = page.getByRole("list", { name: "Waiting photos" }).getByRole("listitem");
  const tile = (name) => tiles.filter({ hasText: name });

  const height = async () => (await tile("Guest 2").boundingBox()).y;
  const before = await height();

  // Between look and key.
  await tile("Guest 0").getByRole("button", { name: "Look at" }).focus();
  await upload(eventId, "late-1", "Late 1");
  await tile("Late 1").waitFor();
  found.order = await tiles.locator(".by").allInnerTexts();
  await page.keyboard.press("r");
  await page.getByText("Rejected: photo of").waitFor();

  // Between look and click.
  const aim = await tile("Guest 1").getByRole("button", { name: "Approve" }).boundingBox();
  await upload(eventId, "late-2", "Late 2");
  await tile("Late 2").waitFor();
  await page.mouse.click(aim.x + aim.width / 2, aim.y + aim.height / 2);
  await page.getByText("Approved: photo of").waitFor();
  found.moved = (await height()) - before;

  // Another picture takes the photo's place before the decision arrives.
  await page.route(/batchGet/, async (route) => {
    await write(`events/${eventId}/photos/${swapped.id}`, { ...swapped.fields, createdAt: new Date(swapped.fields.createdAt) });
    await route.continue();
  });
  await tile("Guest 2").getByRole("button", { name: "Approve" }).click();
  found.swapped = await page.locator("main").getByRole("alert").innerText();
  return found;
}
