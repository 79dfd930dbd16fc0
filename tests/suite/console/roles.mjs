// The pages of people who are not admins of the tenant.

import { loaded, signIn } from "./steps.mjs";

export default async function roles({ site, moderator, superadmin, stranger, nobody, eventId, visitor }) {
  const found = {};
  const seen = async (who, view, shown) => {
    const page = await visitor();
    await signIn(page, site, who, `#/events/${eventId}/${view}`);
    await page.getByText(shown).first().waitFor();
    return page;
  };

  let page = await seen(moderator, "deliveries", "Only admins can see webhooks");
  found.moderator = await page.locator("main").innerText();
  found.moderatorsTabs = await tabs(page);
  await page.getByRole("link", { name: "Recap" }).click();
  await page.getByRole("heading", { name: "No recaps yet" }).waitFor();

  page = await seen(superadmin, "receivers", "Add endpoint");
  found.superadminsTabs = await tabs(page);
  found.superadminsButtons = await page.locator("main").getByRole("button").allInnerTexts();
  await page.getByRole("button", { name: "Rotate…" }).click();
  await page.getByLabel("Takes effect").selectOption("60");
  await page.getByRole("button", { name: "Schedule rotation" }).click();
  await page.getByText("The new secret takes effect on").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  found.isHidden = (await page.locator("[data-secret]").count()) === 0;
  await page.getByRole("button", { name: "Reveal" }).click();
  found.secret = await page.locator("[data-secret]").innerText();
  found.next = await page.locator("[data-next]").innerText();
  found.replaced = await page.getByText("rotated by").innerText();
  found.announced = await page.getByText("Scheduled by").innerText();
  await page.getByRole("button", { name: "Withdraw…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("The next secret was withdrawn").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("[data-next]").waitFor({ state: "detached" });

  await page.locator(".deliveries > li").first().getByRole("link").click();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByText("Copied").waitFor();
  found.curl = await page.evaluate(() => navigator.clipboard.readText());

  // A draft of another tenant is not even an event to them.
  page = await seen(stranger, "deliveries", "Event not found");
  await page.goto(`${site}/console#/events`);
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
  await loaded(page);
  found.strangersEvents = await page.locator("main").innerText();

  page = await seen(nobody, "deliveries", "You don't have access to any events yet");
  found.nobody = await page.locator("body").innerText();
  return found;
}

async function tabs(page) {
  return page.getByRole("navigation", { name: "Event sections" }).getByRole("link").allInnerTexts();
}
