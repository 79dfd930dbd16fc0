// More photos await approval than a page lists, and others join them behind the last one that is listed.

import { showPictures, signIn, upload } from "./steps.mjs";

export default async function backlog({ site, moderator, eventId, visitor }) {
  const page = await visitor();
  await page.clock.install();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const tab = page.getByRole("navigation", { name: "Event sections" }).getByRole("link", { name: /^Photos/ });
  await tab.getByText("60").waitFor();
  for (const id of ["late-1", "late-2", "late-3"]) await upload(eventId, id);
  await page.clock.fastForward(25_000);
  await tab.getByText("63").waitFor();
  return tab.innerText();
}
