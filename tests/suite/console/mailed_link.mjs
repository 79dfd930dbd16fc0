// Somebody has a link mailed to them, opens it, and is signed in without a password. The page can be installed. Then they
// follow a link as soon as the first view is drawn.

export default async function mailedLink({ site, admin, visitor }) {
  const page = await visitor();
  await page.goto(`${site}/console`);
  const devtools = await page.context().newCDPSession(page);
  const { errors, manifest } = await devtools.send("Page.getAppManifest");
  const icons = await Promise.all(manifest.icons.map(({ url }) => page.request.get(url)));
  await page.getByLabel("Email").fill(admin.email);
  await page.getByRole("button", { name: "Email me a sign-in link" }).click();
  await page.getByText("Check your inbox").waitFor();

  const sent = await fetch("http://127.0.0.1:9099/emulator/v1/projects/demo-wall/oobCodes");
  const { oobCodes } = await sent.json();
  const { oobLink } = oobCodes.findLast(({ email }) => email === admin.email);
  await page.goto(oobLink);
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
  const address = page.url();

  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("h1")) return;
      observer.disconnect();
      location.hash = "#/events/none";
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await page.getByRole("heading", { name: "Event not found" }).waitFor();
  return {
    address,
    manifest: [errors.length, manifest.name, manifest.startUrl, manifest.display],
    icons: icons.map((icon) => icon.headers()["content-type"]),
  };
}
