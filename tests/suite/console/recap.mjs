// A moderator prepares a recap: looks at it, has it mailed to them, and sends it.

import { signIn } from "./steps.mjs";

export default async function recap({ site, moderator, eventId, guest, visitor }) {
  const page = await visitor();
  await page.route("https://example.com/**", (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  );
  await signIn(page, site, moderator, `#/events/${eventId}/recaps`);
  await page.getByRole("button", { name: "Prepare a recap" }).click();
  await page.getByLabel("A paragraph of your own").fill("Thank you <b>all</b>!");
  await page.getByLabel(/^Subject/).fill("Thank you for coming");
  await page.getByRole("button", { name: "Preview" }).click();
  const mail = page.getByRole("group", { name: "The mail", exact: true });
  // The first words of it stand once more, unseen, for the list of a mailbox.
  await mail.getByText("Thank you <b>all</b>!").last().waitFor();
  const found = { mail: await mail.evaluate(drawn) };
  await page.getByLabel("As seen by").selectOption(guest);
  await mail.getByText("Hi Ben").waitFor();
  await page.getByRole("button", { name: "Phone" }).click();
  await page.getByRole("button", { name: "Dark" }).click();
  found.onPhone = await mail.evaluate((frame) => ({
    width: frame.offsetWidth,
    card: getComputedStyle(frame.shadowRoot.querySelector(".card")).backgroundColor,
  }));
  found.skipped = await page.getByText(/^Of fewer than ten/).innerText();
  await page.getByRole("button", { name: "Send to me" }).click();
  await page.getByText("It is on its way to").waitFor();

  await page.getByRole("button", { name: /^Send to 3 guests/ }).click();
  const dialog = page.getByRole("dialog");
  found.asked = await dialog.innerText();
  await dialog.getByRole("button", { name: "Send 3 mails" }).click();
  await page.getByText("2 mails were sent").waitFor();
  await page.getByRole("region", { name: "Recap, Sent" }).waitFor();
  found.card = await page.getByRole("region", { name: "Recap, Sent" }).innerText();
  await page.getByText("The next recap can be sent").waitFor();
  return found;
}

// What stands in the mail's own tree: its text, and what could load or lead anywhere.
function drawn({ shadowRoot }) {
  return {
    text: shadowRoot.textContent,
    active: shadowRoot.querySelectorAll("a[href], script, iframe, link, form, [style*=url], [onclick]").length,
    pictures: shadowRoot.querySelectorAll("img").length,
    isStyled: shadowRoot.querySelectorAll("[style]").length > 0,
  };
}
