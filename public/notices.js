// The page behind the links of notices: it confirms that they are wanted, or ends them.

const WAYS = {
  confirm: {
    asked: "Do you want mails that say when an event's webhooks fail, are switched off, or work again?",
    answer: "Yes, send me notices",
    done: "Done: you get notices. Each has a link that ends them.",
    form: { Notices: "Confirm" },
  },
  end: {
    asked: "Do you want no more notices about webhooks?",
    answer: "Send me no more",
    done: "Done: you get no more of these notices.",
    form: { "List-Unsubscribe": "One-Click" },
  },
};
const REFUSED = "This link has expired, or is not complete.";
const LIMITED = "There were many requests from your network. Please try again in an hour.";
const FAILED = "Something went wrong on our side, or you are offline. Please try again.";

const element = (id) => document.getElementById(id);

// The token out of the address, where it would be seen, copied and bookmarked. The history entry
// keeps it, so that the page can be reloaded.
function taken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const name = Object.keys(WAYS).find((one) => fragment.get(one));
  if (name) history.replaceState({ name, token: fragment.get(name) }, "", location.pathname);
  return history.state ?? {};
}

async function answered(way, token) {
  try {
    const answer = await fetch(`/unsubscribe?of=notices&token=${encodeURIComponent(token)}`, {
      method: "POST",
      body: new URLSearchParams(way.form),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    if (answer.ok) return way.done;
    if (answer.status === 429) return LIMITED;
    return answer.status < 500 ? REFUSED : FAILED;
  } catch {
    return FAILED;
  }
}

function load() {
  const { name, token } = taken();
  const way = WAYS[name];
  const button = element("answer");
  button.hidden = !way;
  element("asked").textContent = way?.asked ?? REFUSED;
  element("status").textContent = "";
  if (!way) return;
  button.textContent = way.answer;
  button.onclick = async () => {
    button.disabled = true;
    const told = await answered(way, token);
    element("status").textContent = told;
    button.hidden = told === way.done;
    button.disabled = false;
  };
}

addEventListener("hashchange", load);
load();
