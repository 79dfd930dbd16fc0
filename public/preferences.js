// The page behind the link in an email: shows the reader's preferences and changes them.

import { readParameters } from "/link.js";

const LANGUAGES = ["en", "ar", "da", "de", "es", "fr", "it", "nl", "pl", "pt", "sv"];
const RIGHT_TO_LEFT = ["ar"];

// The translations of the English texts; empty if the page is in English.
let texts = {};
const text = (english) => texts[english] ?? english;

const NO_GOOD = () =>
  text("This link has expired or is incomplete. Please use the link in our latest email.");
const MESSAGES = {
  NO_TOKEN: () => text("To see your preferences, use the link at the bottom of one of our emails."),
  INVALID_ARGUMENT: NO_GOOD,
  PERMISSION_DENIED: NO_GOOD,
  RESOURCE_EXHAUSTED: ({ possibleFrom }) =>
    text("Too many requests from your network. Please try again after %(time)s.").replace(
      "%(time)s",
      new Date(possibleFrom).toLocaleTimeString(document.documentElement.lang, TIME),
    ),
};
const HOUR_MS = 3_600_000;
const TIME = { hour: "2-digit", minute: "2-digit" };
const NOT_REACHED = () =>
  text("Something went wrong on our side, or you are offline. Please try again.");
// How long the page waits for a translation before it appears in English.
const TEXTS_MS = 4000;
// Errors that trying again doesn't fix.
const FINAL = ["NO_TOKEN", "INVALID_ARGUMENT", "PERMISSION_DENIED"];

const element = (id) => document.getElementById(id);
const form = element("preferences");
const flags = ["recap", "lifecycle", "marketing"].map(element);

let token = null;
// The token of an email's unsubscribe button, opened by hand. It can only turn recaps off.
let oneClick = null;
// The server's latest response; a change that fails returns to it.
let known = {};
// The reader's latest choice, whether or not the server has it.
let chosen = {};
// The flags that the last change replaced.
let before = {};
// Changes are sent one after the other, in the order of the clicks.
let sending = Promise.resolve();
let waiting = 0;

// Translate the page into the first of the browser's languages that has a catalog.
async function translate() {
  const page = document.documentElement;
  const wanted = navigator.languages.map((tag) => tag.split("-")[0].toLowerCase());
  const language = wanted.find((one) => LANGUAGES.includes(one)) ?? "en";
  try {
    if (language !== "en") {
      const signal = AbortSignal.timeout(TEXTS_MS);
      const answer = await fetch(`/preferences.${language}.json`, { signal });
      texts = await answer.json();
      page.lang = language;
      page.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
    }
  } catch {
    // English is better than nothing.
  }
  for (const one of document.querySelectorAll("[data-text]")) {
    one.textContent = text(one.textContent.replace(/\s+/g, " ").trim());
  }
  page.classList.add("ready");
}

class Refusal extends Error {
  // Calls are counted by full hours.
  constructor(code, possibleFrom = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS) {
    super(code);
    this.code = code;
    this.possibleFrom = possibleFrom;
  }
}

// Remove the tokens from the address, because people see, copy and bookmark it. The history entry keeps them,
// so that the page can be reloaded.
function takeTokens() {
  const fragment = readParameters(location.hash);
  const query = readParameters(location.search);
  const given = fragment.get("token") || query.get("token");
  const button = fragment.get("unsubscribe") || query.get("unsubscribe");
  if (given || button || location.search || location.hash) {
    const kept = given || button ? { token: given, oneClick: button } : history.state;
    history.replaceState(kept, "", location.pathname);
  }
  return { token: history.state?.token ?? null, oneClick: history.state?.oneClick ?? null };
}

// Called directly where possible: behind the rewrites of this site all readers come from a few
// addresses, and would share the limit on calls of one address.
const functionsAddress = (async () => {
  if (["127.0.0.1", "localhost"].includes(location.hostname)) return "/api";
  try {
    const answer = await fetch("/__/firebase/init.json");
    const { projectId } = await answer.json();
    if (/^[a-z0-9-]+$/.test(projectId)) {
      return `https://us-central1-${projectId}.cloudfunctions.net`;
    }
  } catch {
    // The rewrites work without it.
  }
  return "/api";
})();

async function call(name, data) {
  const answer = await fetch(`${await functionsAddress}/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ data }),
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  const { result, error } = await answer.json();
  if (error) throw new Refusal(error.status, error.details?.possibleFrom);
  return result;
}

function say(words, { failed = false } = {}) {
  const status = element("status");
  status.classList.toggle("failed", failed);
  status.textContent = words;
}

function explain(error) {
  say((MESSAGES[error.code] ?? NOT_REACHED)(error), { failed: true });
}

// Return just enough of the address for its owner to recognize it: a…n@example.com.
function masked(address) {
  const at = address.lastIndexOf("@");
  const last = at > 2 ? address[at - 1] : "";
  return `${address[0]}…${last}${address.slice(at)}`;
}

function showWhose(email) {
  const whose = element("whose");
  whose.hidden = false;
  if (!email) {
    whose.textContent = text("For the address this link was sent to.");
    return;
  }
  const address = document.createElement("bdi");
  address.textContent = masked(email);
  const [start, end] = text("For %(address)s").split("%(address)s");
  whose.replaceChildren(start, address, end);
}

// Show the effective preferences: recaps depend on two flags.
function showChoices() {
  for (const flag of flags) flag.checked = chosen[flag.name];
  const recap = element("recap");
  recap.checked = chosen.recap && chosen.lifecycle;
  recap.disabled = !chosen.lifecycle;
  element("recap-off").textContent = chosen.lifecycle
    ? ""
    : text("Off, because tips and reminders are off.");
  if (!chosen.lifecycle) element("more").open = true; // has the other switch
}

function show({ email, preferences }) {
  known = preferences;
  chosen = { ...preferences };
  showWhose(email);
  // A guest without an account only gets recaps.
  element("more").open = Boolean(email);
  showChoices();
  form.hidden = false;
}

async function load() {
  ({ token, oneClick } = takeTokens());
  const asked = token;
  await spoken;
  for (const id of ["preferences", "whose", "retry", "undo"]) element(id).hidden = true;
  element("one-click").hidden = !oneClick;
  if (oneClick) {
    say(text("Unsubscribe from event recaps?"));
    return;
  }
  try {
    if (!asked) throw new Refusal("NO_TOKEN");
    say(text("Loading your preferences…"));
    const found = await call("getEmailPreferences", { token: asked });
    if (asked !== token) return; // another link was opened meanwhile
    show(found);
    say("");
  } catch (error) {
    if (asked !== token) return;
    explain(error);
    element("retry").hidden = FINAL.includes(error.code);
    // Others in this network have used up its lookups. A change isn't limited.
    element("one-click").hidden = error.code !== "RESOURCE_EXHAUSTED";
  }
}

async function click() {
  const answer = await fetch(`/unsubscribe?token=${encodeURIComponent(oneClick)}`, {
    method: "POST",
    body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  if (answer.status === 403) throw new Refusal("PERMISSION_DENIED");
  if (answer.status === 429) throw new Refusal("RESOURCE_EXHAUSTED");
  if (!answer.ok) throw new Error(answer.statusText);
}

async function unsubscribe() {
  const button = element("unsubscribe");
  button.disabled = true;
  say(text("Saving…"));
  try {
    await (oneClick ? click() : call("updateEmailPreferences", { token, preferences: { recap: false } }));
    for (const id of ["one-click", "retry"]) element(id).hidden = true;
    say(text("You're unsubscribed from event recaps. Changed your mind? Use the link at the bottom of any recap."));
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
}

function change(preferences, done) {
  const changed = token;
  before = Object.fromEntries(Object.keys(preferences).map((name) => [name, chosen[name]]));
  Object.assign(chosen, preferences);
  showChoices();
  waiting += 1;
  say(text("Saving…"));
  sending = sending.then(async () => {
    try {
      const now = await call("updateEmailPreferences", { token: changed, preferences });
      waiting -= 1;
      if (changed !== token) return;
      known = now.preferences;
      // While another click waits, the switches show what was clicked.
      if (waiting === 0) chosen = { ...known };
      element("undo").hidden = false;
      say(done);
    } catch (error) {
      waiting -= 1;
      if (changed !== token) return;
      for (const name of Object.keys(preferences)) chosen[name] = known[name];
      element("undo").hidden = true;
      explain(error);
    }
    showChoices();
  });
}

for (const flag of flags) {
  flag.addEventListener("change", () => change({ [flag.name]: flag.checked }, text("Saved.")));
}

element("none").addEventListener("click", () => {
  const all = Object.fromEntries(flags.map((flag) => [flag.name, false]));
  change(all, text("You've been unsubscribed from all of these emails."));
});
element("undo").addEventListener("click", () => change(before, text("Saved.")));
element("retry").addEventListener("click", load);
element("unsubscribe").addEventListener("click", unsubscribe);
form.addEventListener("submit", (event) => event.preventDefault());
// Another link opened in this tab differs in the fragment only, and loads no page.
addEventListener("hashchange", load);
const spoken = translate();
load();
