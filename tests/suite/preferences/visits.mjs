// A reader who opens the links of mails; every visit begins with nothing remembered.
//
// A visit: {link, width, scheme, locale, open, turn, press, reload, picture}; `open` is the name of
// what can be unfolded, `turn` that of a switch to press with the keyboard, `press` that of a button,
// `reload` loads the page again afterwards, `picture` is a file to draw it in.

const TAB_STOPS = 10;

export default async function visits({ visits, visitor }) {
  const found = [];
  for (const visit of visits) found.push(await made(visit, visitor));
  return found;
}

async function made(visit, visitor) {
  const { link, width = 800, scheme = "light", locale = "en-US" } = visit;
  const { open, turn, press, reload, picture } = visit;
  const page = await visitor({ viewport: { width, height: 760 }, colorScheme: scheme, locale });
  const requests = [];
  const problems = [];
  page.on("request", (request) => requests.push(sent(request)));
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));

  await page.goto(link);
  await settled(page);
  if (open) await page.getByText(open, { exact: true }).click();
  const result = { turned: turn ? await turned(page, turn) : null };
  if (press) {
    await page.getByRole("button", { name: press }).press("Enter");
    await status(page).filter({ hasText: /[^…?]$/ }).waitFor();
  }
  if (reload) {
    await page.reload();
    await settled(page);
  }
  if (picture) await page.screenshot({ path: picture, fullPage: true });
  Object.assign(result, await seen(page), { requests: await Promise.all(requests), problems });
  return result;
}

// A request as it went over the wire.
async function sent(request) {
  const { referer } = await request.allHeaders();
  return { url: request.url(), referer: referer ?? null };
}

function status(page) {
  return page.getByRole("status");
}

// The preferences are there, or a question, or the reason why not.
async function settled(page) {
  const there = page.getByRole("group").or(page.getByRole("button", { name: "Unsubscribe" }));
  await there.or(page.locator("#status.failed")).first().waitFor();
}

// Go to a switch by keyboard, press it, and wait until the page says more
// than that it is busy.
async function turned(page, name) {
  const target = page.getByRole("switch", { name });
  const isFocused = () => target.evaluate((one) => one === document.activeElement);
  for (let stop = 0; stop < TAB_STOPS && !(await isFocused()); stop += 1) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Space");
  await status(page).filter({ hasText: /[^…]$/ }).waitFor();
  return { keptFocus: await isFocused(), live: await liveRegion(page) };
}

// The attributes by which a screen reader announces changes of the status.
async function liveRegion(page) {
  const session = await page.context().newCDPSession(page);
  const { root } = await session.send("DOM.getDocument");
  const { nodes } = await session.send("Accessibility.queryAXTree", {
    nodeId: root.nodeId,
    role: "status",
  });
  return nodes.flatMap(({ properties }) =>
    properties.filter((one) => one.name === "live").map((one) => one.value.value),
  );
}

async function seen(page) {
  const switches = await page.getByRole("switch").all();
  return {
    address: page.url(),
    text: await page.locator("main").innerText(),
    language: await page.locator("html").getAttribute("lang"),
    direction: (await page.locator("html").getAttribute("dir")) ?? "ltr",
    said: await status(page).innerText(),
    switches: Object.fromEntries(await Promise.all(switches.map(state))),
    overflow: await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    }),
  };
}

async function state(one) {
  return [await one.evaluate(({ labels }) => labels[0].innerText), await one.isChecked()];
}
