// A developer copies a sample on the page of event types.

export default async function sample({ site, type, visitor }) {
  const page = await visitor();
  await page.goto(`${site}/events`);
  const asked = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/icon.svg")) asked.push(request.url()); // the browser's own, late
  });
  await page.getByLabel("Event type", { exact: true }).selectOption(type);
  await page.getByLabel("Your endpoint").fill("http://localhost:3000/in");
  await page.getByRole("button", { name: "Copy the command" }).click();
  await page.getByText("Copied").waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const shown = await page.locator("#sample-command").innerText();
  return { asked, command, isShown: shown === command };
}
