// An admin signs in, chooses the event, watches a delivery arrive and retry, filters, opens one, and
// sends it again.

import { row, signIn, upload } from "./steps.mjs";

export default async function watching({ site, admin, eventId, photoId, visitor }) {
  const page = await visitor();
  await signIn(page, site, admin);
  await page.locator("li", { hasText: eventId }).getByRole("link").click();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { name: "Nothing delivered yet" }).waitFor();

  await upload(eventId, photoId);
  const flaky = row(page, "photo.uploaded", "/flaky");
  await flaky.getByText("Retrying").waitFor();
  const retrying = await flaky.innerText();
  await row(page, "photo.uploaded", "/ok").getByText("Delivered").waitFor();
  await flaky.getByText("Delivered").waitFor();
  const delivered = await flaky.innerText();

  await page.getByLabel("Receiver").selectOption({ label: await labelOf(page, "/flaky") });
  await row(page, "photo.uploaded", "/ok").waitFor({ state: "detached" });
  const filtered = page.url();
  await flaky.getByRole("link").click();
  await page.getByRole("heading", { name: "A photo was uploaded" }).waitFor();
  const attempts = await page.locator(".timeline li").allInnerTexts();
  const id = decodeURIComponent(page.url()).match(/deliveries\/([^?]+)/)[1];
  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByRole("heading", { name: "Sent again, 1st time" }).waitFor();
  await page.getByText("200 OK").last().waitFor();

  await page.getByRole("link", { name: "All deliveries" }).click();
  await row(page, "photo.uploaded", "again").waitFor();
  const back = page.url();

  // A colleague opens what they were sent.
  const other = await page.context().newPage();
  await other.goto(filtered);
  await row(other, "photo.uploaded", "/flaky").waitFor();
  const rows = await other.locator(".body .row").count();
  return { retrying, delivered, attempts, id, filtered, back, rows };
}

async function labelOf(page, path) {
  const labels = await page.getByLabel("Receiver").locator("option").allInnerTexts();
  return labels.find((label) => label.includes(path));
}
