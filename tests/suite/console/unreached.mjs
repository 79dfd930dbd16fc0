// Somebody asks whom a recap did not reach.

import { signIn } from "./steps.mjs";

export default async function unreached({ site, person, eventId, visitor }) {
  const page = await visitor();
  await signIn(page, site, person, `#/events/${eventId}/recap`);
  await page.getByRole("button", { name: "Show undelivered" }).click();
  await page.locator(".rows li").first().waitFor();
  return page.getByRole("region", { name: "Recap, Sent" }).innerText();
}
