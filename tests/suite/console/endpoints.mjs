// An admin adds a receiver, changes its types, tries it, enables one that was given up and recovers what
// it has missed, names one, switches it off and on, corrects a URL, removes one, and asks for mails.

import { healthShown, loaded, signIn } from "./steps.mjs";

export default async function endpoints({ site, admin, eventId, added, disabled, typo, corrected, missing, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/receivers`);
  const dialog = page.getByRole("dialog");
  const list = page.getByRole("list", { name: "Endpoints" });
  const open = async (url) => {
    await page.getByRole("link", { name: "Webhooks" }).first().click();
    await list.getByRole("link", { name: new URL(url).pathname }).click();
    await page.getByRole("region", { name: "Endpoint" }).waitFor();
    await loaded(page);
  };
  const edit = async (change) => {
    await page.getByRole("button", { name: "Edit" }).click();
    await change();
    await dialog.getByRole("button", { name: "Save" }).click();
  };
  const main = page.locator("main");
  const found = {};

  // An entry of before holds `recover` itself.
  await open("https://example.com/keeps");
  await edit(() => dialog.getByLabel("Automatically resend failed deliveries").uncheck());
  await main.getByText("Failed deliveries are not resent").waitFor();
  await page.getByRole("link", { name: "Webhooks" }).first().click();

  await page.getByRole("button", { name: "Add endpoint" }).click();
  await dialog.getByLabel("URL").fill("http://example.com/");
  found.told = await dialog.locator(".field-error").innerText();
  await dialog.getByRole("button", { name: "Save" }).click();
  found.isOpenStill = await dialog.isVisible();
  await dialog.getByLabel("URL").fill(added);
  await dialog.getByLabel("Selected events").check();
  await dialog.getByLabel("guest.joined").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await open(added);
  await main.getByText("A guest joined", { exact: true }).waitFor();
  await edit(() => dialog.getByLabel("photo.approved").check());
  await main.getByText("A photo was approved", { exact: true }).waitFor();
  await main.getByText("Failed deliveries are resent automatically").waitFor();

  await page.getByRole("button", { name: "Send test…" }).click();
  await dialog.getByLabel("Event type").selectOption("milestone.reached");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("Delivered").waitFor();
  // The target of the link opens without a dialog.
  await dialog.getByRole("link", { name: "View delivery" }).click();
  await page.getByRole("heading", { name: "Attempts" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("article .back a").click();
  await main.getByText("1 of 1 delivered").waitFor();

  await open(disabled);
  found.reason = await main.getByRole("alert").innerText();
  await main.getByText("Failing since").waitFor();
  found.recoverWhileOff = await page.getByRole("button", { name: "Resend failed…" }).count();
  await page.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByText("will be resent").waitFor();
  found.before = await dialog.innerText();
  await dialog.getByRole("button", { name: /^Resend / }).click();
  await dialog.getByText("queued for resending").waitFor();
  found.after = await dialog.innerText();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await main.getByRole("alert").waitFor({ state: "detached" });

  await open("https://example.com/keeps");
  await edit(() => dialog.getByLabel("Name").fill("Screen in the hall"));
  await page.getByRole("heading", { name: "Screen in the hall" }).waitFor();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByText("This endpoint is").waitFor();
  await page.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByText("since that time").waitFor();
  found.switchedOn = await dialog.innerText();
  await page.keyboard.press("Escape");
  await page.getByText("This endpoint is").waitFor({ state: "detached" });

  // Deliveries that failed at the misspelt URL go to the corrected one.
  await open(typo);
  await main.getByText("Failing since", { exact: true }).waitFor();
  await edit(() => dialog.getByLabel("URL").fill(corrected));
  await dialog.getByText("will be resent").waitFor();
  found.corrected = await dialog.innerText();
  await dialog.getByRole("button", { name: /^Resend / }).click();
  await dialog.getByText("queued for resending").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  // Recovery that is switched on once the receiver is back knows of nothing that failed before.
  await open(missing);
  found.missing = await main.getByRole("status").filter({ hasText: "failed" }).innerText();
  await edit(() => dialog.getByLabel("Automatically resend failed deliveries").check());
  await dialog.getByText("will be resent").waitFor();
  found.offered = await dialog.innerText();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Overview" }).click();
  const figure = page.locator(".headline > div").filter({ hasText: "Webhooks" });
  await figure.getByText("failed").waitFor();
  found.headline = await figure.innerText();
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await list.getByText("2 deliveries failed").waitFor();
  found.row = await list.getByRole("listitem").filter({ hasText: new URL(missing).pathname }).innerText();

  await open(added);
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Add endpoint" }).waitFor();
  await list.getByText("/added").waitFor({ state: "detached" });

  // Mails go to the address of the admin who asks for them.
  await healthShown(page);
  await page.getByRole("button", { name: "Remove somebody@example.com" }).click();
  await page.getByText("No recipients yet").waitFor();
  await page.getByRole("button", { name: "Email me" }).click();
  await page.getByRole("button", { name: "Remove" }).waitFor();
  found.receivers = await list.innerText();
  found.changed = await page.getByText("Webhooks last edited").innerText();
  found.secret = await page.getByRole("region", { name: "Secret" }).innerText();
  return found;
}
