// The mail and the preferences page in a language whose texts are half as long again, in each width.

const OWNER = { email: "ann@example.com", preferences: { lifecycle: false, transactional: true, recap: true, marketing: true } };

export default async function pseudo({ site, html, visitor }) {
  const page = await visitor({ locale: "de-DE" });
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>';
  await page.route("https://example.com/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: picture }));
  await page.route("**/api/getEmailPreferences", (route) => route.fulfill({ json: { result: OWNER } }));
  await page.route("**/preferences.de.json", async (route) => {
    const texts = Object.keys(await (await route.fetch()).json());
    const pseudo = texts.map((text) => [text, `⟦${text}${" ~~~~".repeat(text.length / 10)}⟧`]);
    await route.fulfill({ json: Object.fromEntries(pseudo) });
  });
  const overflow = async () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const found = { tooWide: [] };
  for (const width of [320, 360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("about:blank");
    await page.setContent(html);
    found.tooWide.push(await overflow());
    await page.goto(`${site}/preferences#token=e30.b`);
    await page.getByRole("group").first().waitFor();
    found.tooWide.push(await overflow());
  }
  const shown = `${await page.title()} ${await page.locator("body").innerText()}`;
  found.english = shown.replace(/⟦[^⟧]*⟧/g, "").trim();
  return found;
}
