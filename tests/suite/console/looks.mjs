// Every view in every width and both colour schemes: drawn, measured, and examined by axe.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loaded, signIn } from "./steps.mjs";

const AXE = readFileSync(
  createRequire(new URL("../../../console/package.json", import.meta.url)).resolve("axe-core/axe.min.js"),
  "utf8",
);
// Width and colour scheme do not depend on each other.
const LOOKS = [
  { width: 320, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
  { width: 1280, colorScheme: "dark" },
  { width: 1280, colorScheme: "light" },
];

export default async function looks({ site, staff, views, link, folder, visitor }) {
  const page = await visitor();
  const found = [];
  await page.route("http://127.0.0.1:9180/pictures/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: picture(route.request().url()) }));
  if (link) {
    await page.goto(`${site}/console`);
    await page.getByLabel("Email").waitFor();
    await taken("sign-in");
    await page.goto(`${site}/events`);
    await taken("catalogue");
  }
  await signIn(page, site, staff);
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
  for (const { name, place, shown, press } of views) {
    await page.goto(`${site}/console${place}`);
    await page.getByText(shown, { exact: true }).filter({ visible: true }).first().waitFor();
    await loaded(page);
    for (const button of press) await page.getByRole("button", { name: button }).first().click();
    await loaded(page);
    await taken(name);
    await page.keyboard.press("Escape");
  }
  if (link) {
    await page.goto(link);
    await page.locator(".deliveries > li").first().waitFor();
    await taken("link");
  }
  return found;

  function picture(url) {
    const hue = (Number(/(\d+)[.]jpg/.exec(url)?.[1]) * 47) % 360;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><path fill="hsl(${hue} 60% 70%)" d="M0 0h4v3H0z"/><circle cx="2" cy="1.5" r="1" fill="hsl(${hue} 60% 45%)"/></svg>`;
  }

  async function taken(name) {
    for (const { width, colorScheme } of LOOKS) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (overflow) found.push(`${name} ${width}: ${overflow} pixels too wide`);
      if (folder) await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      if (width !== 390) found.push(...(await problems(name, width, colorScheme)));
    }
  }

  async function problems(name, width, colorScheme) {
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], preload: false }));
    return violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(({ html, failureSummary }) =>
        `${name} ${width} ${colorScheme}: ${impact} ${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`,
      ),
    );
  }
}
