// An admin chooses the language and where answers go; a moderator prepares a recap: looks at it, has it
// mailed to them, sends it, and looks at it once more.

import { showPictures, signIn } from "./steps.mjs";

export default async function recap({ site, admin, moderator, eventId, guest, visitor }) {
  let page = await visitor();
  const previews = [];
  page.on("request", (request) => request.url().endsWith("/previewEventRecap") && request.method() === "POST" && previews.push(request));
  await signIn(page, site, admin, `#/events/${eventId}`);
  await page.getByText("3 guests haven't received a recap yet").waitFor();
  await page.getByRole("link", { name: "Photos" }).click();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("3 guests haven't received a recap yet").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Email language").selectOption("Deutsch");
  await page.getByLabel("Reply-to address").selectOption(admin.email);
  await page.getByLabel("Email logo").fill("https://firebasestorage.googleapis.com/v0/b/demo-wall.firebasestorage.app/o/logo.png");
  await page.getByLabel("Brand color (optional)").fill("#0b1f4d");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("main").getByText("Deutsch", { exact: true }).first().waitFor();

  page = await visitor();
  await showPictures(page);
  await signIn(page, site, moderator, `#/events/${eventId}/recap`);
  await page.getByLabel("Personal message").fill("Thank you <b>all</b>!");
  await page.getByLabel(/^Subject/).fill("Thank you for coming");
  // A look at another room keeps the text.
  await page.getByRole("link", { name: "Photos" }).click();
  await page.getByRole("link", { name: "Recap", exact: true }).click();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  const frame = page.getByTitle("The email");
  const mail = page.frameLocator('iframe[title="The email"]').locator("html");
  // Its first words are repeated invisibly, as the preview in a mailbox.
  await mail.getByText("Thank you <b>all</b>!").last().waitFor();
  const found = { previews: previews.length, mail: await mail.evaluate(drawn), facts: await page.locator(".facts").innerText() };
  await page.getByLabel("Preview as").selectOption(guest);
  await mail.getByText("Hallo Ben").waitFor();
  await page.getByRole("button", { name: "Phone" }).click();
  await page.getByRole("button", { name: "Dark" }).click();
  await until(() => mail.locator(".card").first().evaluate(isDark));
  found.phoneWidth = await frame.evaluate(({ offsetWidth }) => offsetWidth);
  await page.getByRole("button", { name: "Send to me" }).click();
  await page.getByText("Test email sent to").waitFor();

  await page.getByRole("button", { name: "Send…" }).click();
  const dialog = page.getByRole("dialog");
  found.asked = await dialog.innerText();
  await dialog.getByRole("button", { name: "Send recap" }).click();
  await page.getByText("2 emails were sent").waitFor();
  await page.getByRole("region", { name: "Recap, Sent" }).waitFor();
  found.card = await page.getByRole("region", { name: "Recap, Sent" }).innerText();
  await page.getByText("You can send the next recap").waitFor();
  const card = page.getByRole("region", { name: "Recap, Sent" });
  await card.getByRole("button", { name: "Show email" }).click();
  await card.getByRole("button", { name: "Plain text" }).click();
  found.again = {
    subject: await card.locator(".facts strong").innerText(),
    mail: await card.getByLabel("The email as plain text").innerText(),
  };

  // Everyone or newcomers. The page reports photos that no email shows.
  await page.route("**/previewEventRecap", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const response = await route.fetch();
    const { result } = await response.json();
    return route.fulfill({ response, json: { result: { ...result, hidden: 2, notes: ["2 photos are hidden"] } } });
  });
  const compose = page.getByRole("region", { name: "Next recap" });
  found.to = [];
  for (const choice of [/^Everyone/, /^Only guests/]) {
    await compose.getByLabel(choice).check();
    await compose.getByRole("button", { name: "Preview", exact: true }).click();
    await compose.getByText("2 photos are hidden").waitFor();
    found.to.push(await compose.innerText());
  }

  // Planned in place of being sent, and taken back.
  await compose.getByRole("button", { name: "Schedule…" }).click();
  await dialog.getByLabel("Pick a date and time").check();
  await dialog.getByLabel(/^Time \(/).fill(new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16));
  found.planning = await dialog.innerText();
  await dialog.getByRole("button", { name: "Schedule recap" }).click();
  await compose.getByText("Recap scheduled.").waitFor();
  found.planned = await page.getByText(/^Recap scheduled for/).innerText();
  await page.getByRole("button", { name: "Cancel scheduled recap…" }).click();
  await dialog.getByRole("button", { name: "Cancel recap" }).click();
  await page.getByText(/^Recap scheduled for/).waitFor({ state: "detached" });
  await compose.getByText("Scheduled recap canceled.").waitFor();
  found.canceled = await compose.innerText();
  return found;
}

// Whether the mail is drawn in its dark colours.
function isDark(card) {
  return getComputedStyle(card).backgroundColor === "rgb(31, 35, 41)";
}

// Content of the frame: whether scripts run there, and what could load.
function drawn(mail) {
  return {
    text: mail.textContent,
    origin: self.origin,
    active: mail.querySelectorAll("body script, iframe, link, form, [onclick]").length,
    pictures: mail.querySelectorAll("img").length,
    isStyled: mail.querySelectorAll("[style]").length > 0,
  };
}

async function until(holds) {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 50));
}
