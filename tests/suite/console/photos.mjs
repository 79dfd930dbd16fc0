// A moderator decides on photos, by keyboard and by mouse; an admin makes, publishes and archives an
// event.

import { createRequire } from "node:module";
import { loaded, showPictures, signIn, upload } from "./steps.mjs";

const installed = createRequire(new URL("../../../console/package.json", import.meta.url));
const [{ generate }, { toSvgPath }] = ["lean-qr", "lean-qr/extras/svg"].map((name) => installed(name));

export default async function photos({ site, admin, moderator, eventId, newId, visitor }) {
  const found = {};
  let page = await visitor();
  await showPictures(page);
  await page.route("http://127.0.0.1:9180/pictures/5.jpg", (route) => route.fulfill({ contentType: "image/png", body: "no picture" }));
  await page.addInitScript(() => {
    globalThis.badges = [];
    navigator.setAppBadge = async (number) => void globalThis.badges.push(number);
  });
  await signIn(page, site, moderator, `#/events/${eventId}/photos`);
  const grid = page.getByRole("list", { name: "Pending photos" });
  const tiles = grid.getByRole("listitem");
  const tile = (guest) => tiles.filter({ has: page.getByText(guest, { exact: true }) });
  await tiles.nth(47).waitFor();
  await page.getByRole("link", { name: "Photos" }).getByText("50 pending").waitFor();
  found.onTab = await page.getByRole("link", { name: "Photos" }).innerText();
  await page.waitForFunction(() => document.title.startsWith("(50)") && globalThis.badges.at(-1) === 50);
  found.title = await page.title();
  found.badges = await page.evaluate(() => globalThis.badges);
  await page.getByRole("button", { name: "Show more" }).click();
  await tiles.nth(49).waitFor();
  found.shown = await tiles.count();

  // By keyboard only: approve the first, reject the next, delete the one after that.
  await page.waitForFunction(() => document.querySelector("[data-id=p0] img").complete);
  await tile("Guest 0").getByRole("button", { name: "View" }).focus();
  await page.keyboard.press("a");
  await page.keyboard.press("r");
  await page.getByText("Rejected: photo by Guest 1").waitFor();
  // The latest decision is undone from wherever the keyboard is by now.
  for (const [way, told] of [["Undo (approve)", "Approved"], ["Hide", "Hidden"]]) {
    await tile("Guest 1").locator("[aria-disabled=false]").getByText(way).waitFor();
    await page.keyboard.press("u");
    await page.getByText(`${told}: photo by Guest 1`).waitFor();
  }
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog");
  found.picture = await dialog.getByRole("img").getAttribute("src");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await tile("Guest 3").getByText("Deleted").waitFor();

  // By mouse, with a reason; no key is typed into it by accident.
  await tile("Guest 2").getByRole("button", { name: "View" }).click();
  await page.keyboard.press("a");
  found.typed = await dialog.getByLabel("Reason").inputValue();
  await dialog.getByLabel("Reason").fill("blurred");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await page.getByText("Rejected: photo by Guest 2").waitFor();

  // The page that decided can undo the decision.
  await tile("Guest 4").getByRole("button", { name: "Approve" }).click();
  await tile("Guest 4").getByRole("button", { name: "Hide" }).click();
  await tile("Guest 4").getByRole("button", { name: "Undo (approve)" }).waitFor();
  // The button that had the focus is gone; its photo has it now.
  found.focused = await page.evaluate(() => document.activeElement.closest("[data-id]")?.dataset.id);

  await page.getByRole("link", { name: "Approved", exact: true }).click();
  const approved = page.getByRole("list", { name: "Approved photos" }).getByRole("listitem");
  await approved.getByRole("button", { name: "Add to highlights" }).click();
  await approved.getByText("Highlight", { exact: true }).waitFor();
  await approved.getByRole("button", { name: "View" }).click();
  found.decision = await dialog.innerText();
  await page.keyboard.press("Escape");
  await approved.getByRole("button", { name: "Hide" }).click();
  await page.getByText("No approved photos yet").waitFor();
  await page.getByText("Hidden: photo by").waitFor();

  // All that is shown, after a question that says how many.
  await page.getByRole("link", { name: "Pending", exact: true }).click();
  await tiles.nth(44).waitFor();
  // One picture does not load. Neither a key nor "Approve all" approves its photo.
  for (const one of await tiles.all()) await one.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => [...document.querySelectorAll(".photo img")].every(({ complete }) => complete));
  found.notLoaded = await tile("Guest 5").locator(".no-picture").innerText();
  await tile("Guest 5").getByRole("button", { name: "View" }).focus();
  await page.keyboard.press("a");
  await page.getByText("Wait for the picture to load before approving it: photo by Guest 5").waitFor();
  await page.getByRole("button", { name: "Approve all" }).click();
  await upload(eventId, "meanwhile", "Meanwhile");
  await tiles.filter({ hasText: "Meanwhile" }).waitFor();
  found.question = await dialog.getByRole("heading").innerText();
  found.leftOut = await dialog.locator(".notice").innerText();
  await dialog.getByRole("button", { name: "Approve all" }).click();
  await page.getByRole("button", { name: "Hide 44 reviewed" }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".photo .badge.retrying"));

  page = await visitor();
  await signIn(page, site, admin);
  await page.getByRole("button", { name: "New event" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Anna & Björn");
  found.suggested = await page.getByLabel("ID", { exact: true }).inputValue();
  await page.getByLabel("ID", { exact: true }).fill(eventId);
  await page.getByRole("button", { name: "Create event" }).click();
  found.taken = await page.getByRole("alert").innerText();
  await page.getByLabel("ID", { exact: true }).fill(newId);
  await page.getByText("More settings").click();
  await page.getByLabel("Guest upload page").fill("https://example.com/upload");
  await page.getByLabel("Gallery page").fill("https://example.com/gallery");
  await page.getByRole("button", { name: "Create event" }).click();
  await loaded(page);
  for (const [action, shown] of [["Publish", "Published"], ["Archive", "Archived"]]) {
    await page.getByRole("button", { name: `${action}…` }).click();
    await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();
    await page.locator(".event-name .badge").getByText(shown).waitFor();
    if (shown === "Published") Object.assign(found, await waysIn(page));
  }
  await page.getByRole("button", { name: "Reopen…" }).waitFor();

  // Figures that go on by themselves.
  await page.goto(`${site}/console#/events/${eventId}`);
  const headline = page.locator(".headline");
  await headline.getByText("1 of 2 failing").waitFor();
  await upload(eventId, "late");
  await headline.getByText("3", { exact: true }).waitFor();
  await loaded(page);
  found.headline = await headline.innerText();

  // Days until guests' data goes, and the event with all that is in it.
  await page.goto(`${site}/console#/events/${newId}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Delete guests' names and emails after").fill("0");
  found.days = await page.getByRole("dialog").locator(".field-error").innerText();
  await page.getByLabel("Delete guests' names and emails after").fill("30");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Deleted 30 days after archiving").waitFor();
  await page.getByRole("button", { name: "Delete…" }).click();
  found.goes = await page.getByRole("dialog").innerText();
  page.removeAllListeners("console"); // an event that is gone refuses its listeners
  await page.getByRole("dialog").getByLabel("to confirm").fill("Anna & Björn");
  await page.getByRole("button", { name: "Delete everything" }).click();
  await page.getByText("“Anna & Björn” was deleted.").waitFor();
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
  await page.getByText(newId, { exact: true }).waitFor({ state: "detached" });
  const item = page.getByRole("listitem").filter({ hasText: eventId });
  await item.getByText("approved").waitFor(); // the counts come after the list
  found.counts = await item.innerText();
  return found;
}

// The ways of guests: the codes, the targets of the links, and the printed page.
async function waysIn(page) {
  const section = page.getByRole("region", { name: "For guests" });
  await section.getByRole("img").nth(1).waitFor();
  const codes = await section.getByRole("img").evaluateAll((all) => all.map((code) => code.getAttribute("aria-label")));
  const drawn = await section.locator(".code path").evaluateAll((all) => all.map((path) => path.getAttribute("d")));
  const links = await section.getByRole("link").evaluateAll((all) => all.map(({ href }) => href));
  await page.emulateMedia({ media: "print" });
  const onPaper = await page.locator(".column > *").evaluateAll((parts) => parts.filter((part) => part.offsetHeight).map((part) => part.className));
  await page.emulateMedia({ media: "screen" });
  return { codes, links, onPaper, drawn: drawn.map((path, place) => path === toSvgPath(generate(links[place]))) };
}
