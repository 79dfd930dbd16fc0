// An admin signs in, chooses the event, watches a delivery arrive and retry, looks at its receiver,
// filters, opens the delivery, and sends it again.

import { row, signIn, upload } from "./steps.mjs";

export default async function watching({ site, admin, eventId, photoId, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin);
  await page.locator("li", { hasText: eventId }).getByRole("link").click();
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();

  await upload(eventId, photoId);
  const flaky = row(page, "photo.uploaded", "/flaky");
  await flaky.getByText("Retrying").waitFor();
  const retrying = await flaky.innerText();
  await row(page, "photo.uploaded", "/ok").getByText("Delivered").waitFor();
  await flaky.getByText("Delivered").waitFor();
  const delivered = await flaky.innerText();

  await page.getByRole("list", { name: "Endpoints" }).getByRole("link", { name: "/flaky" }).click();
  await page.getByRole("heading", { name: "/flaky" }).waitFor();
  const health = page.locator(".health");
  await health.getByText("1 of 1 delivered").waitFor();
  await page.getByText("No active links.").waitFor();
  // A choice is no loss of the network.
  const connections = await page.evaluateHandle(watchConnection);
  // A list keeps its rows until it loads the next ones. After an empty list, a row is a new one.
  await page.getByLabel("Outcome").selectOption("failed");
  await page.getByRole("heading", { name: "No matching deliveries" }).waitFor();
  await page.getByLabel("Outcome").selectOption("success");
  const only = page.locator(".deliveries > li");
  // Waits for the row's final height. Before its first frame, a row has the height of a placeholder.
  await only.first().click({ trial: true });
  const filtered = page.url();
  const told = await connections.evaluate(({ seen }) => seen);
  const place = await page.evaluate(() => (scrollTo(0, 1e6), scrollY));
  await only.first().getByRole("link").click();
  await page.getByRole("heading", { name: "A photo was uploaded" }).waitFor();
  const attempts = await page.locator(".timeline li").allInnerTexts();
  const id = decodeURIComponent(page.url()).match(/deliveries\/([^?]+)/)[1];
  await page.getByRole("button", { name: "Resend" }).click();
  await page.getByRole("heading", { name: "Resend 1" }).waitFor();
  await page.getByText("200 OK").last().waitFor();
  // The list in the background has no row of the delivery until the resend has an outcome.
  await page.locator(`.deliveries [data-id="${id}"]`, { hasText: "resent" }).waitFor({ state: "attached" });

  await page.locator("article .back a").click();
  await row(page, "photo.uploaded", "resent").first().waitFor();
  const focused = await page.evaluate(() => document.activeElement.closest("[data-id]")?.dataset.id);
  const moved = (await page.evaluate(() => scrollY)) - place;
  await page.waitForFunction(() => document.title.includes("/flaky")); // set after the page is drawn
  const title = await page.title();
  // The figures go on by themselves.
  await upload(eventId, `${photoId}-next`);
  await health.getByText("2 of 2 delivered").waitFor();
  const back = page.url();

  // A colleague opens what they were sent.
  const other = await page.context().newPage();
  await other.goto(filtered);
  await row(other, "photo.uploaded", "Delivered").first().waitFor();
  const rows = await other.locator(".deliveries > li").count();
  return { retrying, delivered, attempts, id, filtered, told, back, rows, focused, title, place, moved };
}

// The line above the list from now on.
function watchConnection() {
  const seen = [];
  const look = () => seen.push(document.querySelector(".connection [role=status]")?.textContent ?? "");
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  return { seen };
}
