// An admin adds a URL, changes its types, tries it, enables one that was given up and recovers what
// it has missed, names one, switches it off and on, and removes one.

import { signIn } from "./steps.mjs";

export default async function endpoints({ site, admin, eventId, added, disabled, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin, `#/events/${eventId}/endpoints`);
  const dialog = page.getByRole("dialog");
  const found = {};

  await page.getByRole("button", { name: "Add a receiver" }).click();
  await dialog.getByLabel("URL").fill("http://example.com/");
  found.told = await dialog.locator(".field-error").innerText();
  await dialog.getByRole("button", { name: "Save" }).click();
  found.isOpenStill = await dialog.isVisible();
  await dialog.getByLabel("URL").fill(added);
  await dialog.getByLabel("Only these").check();
  await dialog.getByLabel("guest.joined").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  const card = page.getByRole("region", { name: new URL(added).pathname });
  await card.getByText("A guest joined").waitFor();

  await card.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("photo.approved").check();
  await dialog.getByLabel("Send failed ones again by itself").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await card.getByText("A photo was approved").waitFor();
  await card.getByText("So far").waitFor();
  found.order = await card.getByText("So far").innerText();

  await card.getByRole("button", { name: "Send a test" }).click();
  await dialog.getByLabel("What it tells").selectOption("milestone.reached");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("Delivered").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  found.first = await page.locator("section.endpoint .path").first().innerText();
  const dead = page.getByRole("region", { name: new URL(disabled).pathname });
  found.reason = await dead.getByRole("alert").innerText();
  found.health = await dead.locator(".health").innerText();
  found.recoverWhileOff = await dead.getByRole("button", { name: "Send failed ones again…" }).count();
  await dead.getByRole("button", { name: "Switch it on again" }).click();
  await dialog.getByText("would be sent again").waitFor();
  found.before = await dialog.innerText();
  await dialog.getByRole("button", { name: /^Send .* again$/ }).click();
  await dialog.getByText("on the way again").waitFor();
  found.after = await dialog.innerText();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await dead.getByRole("alert").waitFor({ state: "detached" });

  const named = page.getByRole("region", { name: "/keeps" });
  await named.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Name").fill("Screen in the hall");
  await dialog.getByRole("button", { name: "Save" }).click();
  await named.getByRole("heading", { name: "Screen in the hall" }).waitFor();
  await named.getByRole("button", { name: "Switch off" }).click();
  await named.getByText("Nothing is sent there").waitFor();
  await named.getByRole("button", { name: "Switch it on again" }).click();
  await dialog.getByText("since then").waitFor();
  found.switchedOn = await dialog.innerText();
  await page.keyboard.press("Escape");
  await named.getByText("Nothing is sent there").waitFor({ state: "detached" });

  await card.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await card.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByRole("textbox").fill("ann@example.com\nnot an address");
  found.refused = await dialog.locator(".field-error").innerText();
  await dialog.getByRole("textbox").fill(admin.email);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Deliveries" }).first().click();
  await page.getByLabel("Receiver").waitFor();
  await page.getByRole("option", { name: "Screen in the hall" }).waitFor({ state: "attached" });
  found.receivers = await page.getByLabel("Receiver").innerText();
  return found;
}
