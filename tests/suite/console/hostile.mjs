// Texts that people, receivers and organizers can write, in every view.

import { signIn } from "./steps.mjs";

export default async function hostile({ site, admin, eventId, deliveryId, visitor }) {
  const page = await visitor({ viewport: { width: 360, height: 760 } });
  const dialogs = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await signIn(page, site, admin, `#/events/${eventId}/deliveries`);
  await page.locator(".deliveries > li").nth(1).waitFor();
  const list = await page.evaluate(look);
  await page.goto(`${site}/console#/events/${eventId}/deliveries/${deliveryId}`);
  await page.getByRole("heading", { name: "Attempts" }).waitFor();
  const sheet = await page.evaluate(look);
  const body = await page.locator("pre").innerText();
  await page.getByRole("button", { name: "Show all" }).click();
  const whole = await page.locator("pre").evaluate((pre) => pre.textContent.length);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("list", { name: "Endpoints" }).waitFor();
  const endpoints = await page.evaluate(look);
  return { dialogs, list, sheet, endpoints, body, whole };
}

// Elements that exist only if markup was executed, and the pixels by which the page is too wide.
function look() {
  const { scrollWidth, clientWidth } = document.documentElement;
  return {
    foreign: document.querySelectorAll("main :is(b, i, script, img, iframe, marquee)").length,
    overflow: scrollWidth - clientWidth,
  };
}
