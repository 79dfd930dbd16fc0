// The page that the link in a mail leads to: shows the reader's preferences and changes them.

"use strict";

const NAMES = {
  recap: "event recaps",
  lifecycle: "tips and reminders",
  marketing: "news",
};

const MESSAGES = {
  NO_TOKEN: "To see your preferences, open the link at the end of a mail from us.",
  INVALID_ARGUMENT: "This link is not complete. Please open it from the mail again.",
  PERMISSION_DENIED:
    "This link has expired, or is not complete. Links work for 30 days: please open the one in " +
    "the newest mail from us.",
  RESOURCE_EXHAUSTED:
    "There were many requests from your network. Please try again in an hour.",
  UNSUBSCRIBED: "Done: you get no more event recaps.",
};
const NOT_REACHED = "Something went wrong on our side, or you are offline. Please try again.";
// These do not go away by trying again.
const FINAL = ["NO_TOKEN", "INVALID_ARGUMENT", "PERMISSION_DENIED"];

const element = (id) => document.getElementById(id);
const form = element("preferences");
const flags = Object.keys(NAMES).map(element);

let token = null;
// Of a mail's unsubscribe button, opened by hand; it can turn recaps off, and nothing else.
let oneClick = null;
// What the server said last; a change that fails goes back to it.
let known = {};
// Changes are sent one after the other, in the order of the clicks.
let sending = Promise.resolve();
let waiting = 0;

class Refusal extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

// The tokens out of the address, where they would be seen, copied and bookmarked. The history entry
// keeps them, so that the page can be reloaded.
function takeTokens() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token") || new URLSearchParams(location.search).get("token");
  const button = fragment.get("unsubscribe");
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
    // Then the rewrites have to do.
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
  if (error) throw new Refusal(error.status);
  return result;
}

function say(text, { failed = false } = {}) {
  const status = element("status");
  status.classList.toggle("failed", failed);
  status.textContent = text;
}

function explain(error) {
  say(MESSAGES[error.code] ?? NOT_REACHED, { failed: true });
}

function show({ email, preferences }) {
  known = preferences;
  for (const flag of flags) flag.checked = preferences[flag.name];
  if (email) {
    const address = document.createElement("strong");
    address.textContent = email;
    element("whose").replaceChildren("For ", address);
  } else {
    element("whose").textContent = "For the address that your link was sent to.";
  }
  form.hidden = false;
}

async function load() {
  ({ token, oneClick } = takeTokens());
  const asked = token;
  form.hidden = true;
  element("retry").hidden = true;
  element("one-click").hidden = !oneClick;
  if (oneClick) {
    say("Do you want no more event recaps?");
    return;
  }
  try {
    if (!asked) throw new Refusal("NO_TOKEN");
    say("Loading your preferences…");
    const found = await call("getEmailPreferences", { token: asked });
    if (asked !== token) return; // another link was opened meanwhile
    show(found);
    say("");
  } catch (error) {
    if (asked !== token) return;
    explain(error);
    element("retry").hidden = FINAL.includes(error.code);
  }
}

async function unsubscribe() {
  const button = element("unsubscribe");
  button.disabled = true;
  say("Saving…");
  try {
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
    element("one-click").hidden = true;
    say(MESSAGES.UNSUBSCRIBED);
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
}

function change(preferences, done) {
  const changed = token;
  waiting += 1;
  say("Saving…");
  sending = sending.then(async () => {
    try {
      const now = await call("updateEmailPreferences", { token: changed, preferences });
      waiting -= 1;
      if (changed !== token) return;
      // While another click waits, the switches show what was clicked.
      if (waiting === 0) show(now);
      else known = now.preferences;
      say(done);
    } catch (error) {
      waiting -= 1;
      if (changed !== token) return;
      for (const name of Object.keys(preferences)) element(name).checked = known[name];
      explain(error);
    }
  });
}

for (const flag of flags) {
  flag.addEventListener("change", () => {
    const name = NAMES[flag.name];
    change(
      { [flag.name]: flag.checked },
      flag.checked ? `Saved: you get ${name} again.` : `Saved: you get no more ${name}.`,
    );
  });
}

element("none").addEventListener("click", () => {
  for (const flag of flags) flag.checked = false;
  const all = Object.fromEntries(flags.map((flag) => [flag.name, false]));
  change(all, "Saved: you get none of these mails any more.");
});
element("retry").addEventListener("click", load);
element("unsubscribe").addEventListener("click", unsubscribe);
form.addEventListener("submit", (event) => event.preventDefault());
// Another link opened in this tab differs in the fragment only, and loads no page.
addEventListener("hashchange", load);
load();
