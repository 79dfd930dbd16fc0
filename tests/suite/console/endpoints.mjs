// An admin adds a receiver, changes its types, tries it, enables one that was given up and recovers what
// it has missed, names one, switches it off and on, corrects a URL, removes one, and asks for mails.

import { signIn } from "./steps.mjs";

export default async function endpoints({ site, admin, eventId, added, disabled, typo, corrected, missing, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/receivers`);
  const dialog = page.getByRole("dialog");
  const list = page.getByRole("list", { name: "Receivers" });
  const open = async (url) => {
    await page.getByRole("link", { name: "Receivers" }).first().click();
    await list.getByRole("link", { name: new URL(url).pathname }).click();
    await page.getByRole("region", { name: "The receiver" }).waitFor();
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
  await edit(() => dialog.getByLabel("Send failed ones again by itself").uncheck());
  await main.getByText("nothing is sent again by itself").waitFor();
  await page.getByRole("link", { name: "Receivers" }).first().click();

  await page.getByRole("button", { name: "Add a receiver" }).click();
  await dialog.getByLabel("URL").fill("http://example.com/");
  found.told = await dialog.locator(".field-error").innerText();
  await dialog.getByRole("button", { name: "Save" }).click();
  found.isOpenStill = await dialog.isVisible();
  await dialog.getByLabel("URL").fill(added);
  await dialog.getByLabel("Only these").check();
  await dialog.getByLabel("guest.joined").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await open(added);
  await main.getByText("A guest joined", { exact: true }).waitFor();
  await edit(() => dialog.getByLabel("photo.approved").check());
  await main.getByText("A photo was approved", { exact: true }).waitFor();
  await main.getByText("what failed is sent again by itself").waitFor();

  await page.getByRole("button", { name: "Send a test" }).click();
  await dialog.getByLabel("What it tells").selectOption("milestone.reached");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("Delivered").waitFor();
  // What the link leads to has no dialog before it.
  await dialog.getByRole("link", { name: "Look at it" }).click();
  await page.getByRole("heading", { name: "Attempts" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("article .back a").click();
  await main.getByText("1 of 1 delivered").waitFor();

  await open(disabled);
  found.reason = await main.getByRole("alert").innerText();
  await main.getByText("Failing since").waitFor();
  found.recoverWhileOff = await page.getByRole("button", { name: "Send failed ones again…" }).count();
  await page.getByRole("button", { name: "Switch it on again" }).click();
  await dialog.getByText("would be sent again").waitFor();
  found.before = await dialog.innerText();
  await dialog.getByRole("button", { name: /^Send .* again$/ }).click();
  await dialog.getByText("on the way again").waitFor();
  found.after = await dialog.innerText();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await main.getByRole("alert").waitFor({ state: "detached" });

  await open("https://example.com/keeps");
  await edit(() => dialog.getByLabel("Name").fill("Screen in the hall"));
  await page.getByRole("heading", { name: "Screen in the hall" }).waitFor();
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("Nothing is sent there").waitFor();
  await page.getByRole("button", { name: "Switch it on again" }).click();
  await dialog.getByText("since then").waitFor();
  found.switchedOn = await dialog.innerText();
  await page.keyboard.press("Escape");
  await page.getByText("Nothing is sent there").waitFor({ state: "detached" });

  // What failed at the misspelt URL goes to the corrected one.
  await open(typo);
  await main.getByText("Failing since", { exact: true }).waitFor();
  await edit(() => dialog.getByLabel("URL").fill(corrected));
  await dialog.getByText("would be sent again").waitFor();
  found.corrected = await dialog.innerText();
  await dialog.getByRole("button", { name: /^Send .* again$/ }).click();
  await dialog.getByText("on the way again").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  // Recovery that is switched on once the receiver is back knows of nothing that failed before.
  await open(missing);
  found.missing = await main.getByRole("status").filter({ hasText: "not arrived" }).innerText();
  await edit(() => dialog.getByLabel("Send failed ones again by itself").check());
  await dialog.getByText("would be sent again").waitFor();
  found.offered = await dialog.innerText();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Overview" }).click();
  const figure = page.locator(".headline > div").filter({ hasText: "Receivers" });
  await figure.getByText("not arrived").waitFor();
  found.headline = await figure.innerText();
  await page.getByRole("link", { name: "Receivers" }).first().click();
  await list.getByText("2 messages have not arrived").waitFor();
  found.row = await list.getByRole("listitem").filter({ hasText: new URL(missing).pathname }).innerText();

  await open(added);
  await page.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Add a receiver" }).waitFor();
  await list.getByText("/added").waitFor({ state: "detached" });

  // Mails go to the address of the admin who asks for them.
  await page.getByRole("button", { name: "Take out somebody@example.com" }).click();
  await page.getByText("Nobody gets them").waitFor();
  await page.getByRole("button", { name: "Mail me" }).click();
  await page.getByRole("button", { name: "Take out" }).waitFor();
  found.receivers = await list.innerText();
  found.changed = await page.getByText("URLs last changed on").innerText();
  found.secret = await page.getByRole("region", { name: "Secret" }).innerText();
  return found;
}
