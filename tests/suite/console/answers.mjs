// A refusal, a network that is cut, a server that does not answer, and one that falls silent.

import { signIn } from "./steps.mjs";

const FUNCTIONS = "**/us-central1/**";
const FIRESTORE = "http://127.0.0.1:8080/**";
const hangs = () => {};

export default async function answers({ site, admin, eventId, deliveryId, visitor }) {
  const page = await visitor();
  await page.clock.install();
  await signIn(page, site, admin, `#/events/${eventId}/deliveries/${deliveryId}`);
  const again = page.getByRole("button", { name: "Resend" });
  const told = page.locator("main").getByRole("alert");
  const found = {};

  await again.click();
  await told.waitFor();
  found.refused = await told.innerText();

  await page.route(FUNCTIONS, (route) => route.abort());
  await again.click();
  await told.filter({ hasText: "reach the server" }).waitFor();
  found.cut = await told.innerText();
  await page.unroute(FUNCTIONS);

  await page.route(FUNCTIONS, hangs);
  await again.click();
  await page.clock.fastForward(3000);
  await page.getByText("Still working…").waitFor();
  await page.clock.fastForward(27_000);
  await told.filter({ hasText: "timed out" }).waitFor();
  found.late = await told.innerText();

  await page.getByRole("link", { name: "All deliveries" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.route(FIRESTORE, hangs);
  await page.clock.fastForward(31_000);
  await page.getByText("Connection lost. Showing the last known state").waitFor();
  found.silent = await page.locator(".connection").innerText();
  return found;
}
