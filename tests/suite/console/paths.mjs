// The site's root, an address that doesn't exist, and a link that an email gateway has encoded.

export default async function paths({ site, visitor }) {
  const page = await visitor();
  await page.goto(`${site}/`);
  await page.getByLabel("Email").waitFor();
  const root = page.url();

  const missing = [];
  for (const path of ["/nowhere", "/console/events/e1", "/a/b%23c"]) {
    const answer = await page.goto(site + path);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    missing.push([answer.status(), new URL(page.url()).pathname]);
  }
  await page.getByRole("link", { name: "console" }).click();
  await page.getByLabel("Email").waitFor();

  await page.goto(`${site}/console%23%2Fevents%2Fe1%2Frecap`);
  await page.getByLabel("Email").waitFor();
  return { root, missing, encoded: page.url() };
}
