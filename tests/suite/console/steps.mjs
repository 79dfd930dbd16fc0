// Steps that journeys repeat.

export async function signIn(page, site, { email, password }, place = "") {
  await page.goto(`${site}/console${place}`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** The row of a delivery of that type to that path. */
export function row(page, type, path) {
  return page.getByRole("listitem").filter({ hasText: type }).filter({ hasText: path });
}

const DOCUMENTS = "http://127.0.0.1:8080/v1/projects/demo-wall/databases/(default)/documents";
const OWNER = { Authorization: "Bearer owner" };

/** Writes fields of a document as the project's own scripts do, which no rule holds back. */
export async function write(path, fields) {
  const mask = Object.keys(fields).map((name) => `updateMask.fieldPaths=${name}`);
  const answer = await fetch(`${DOCUMENTS}/${path}?${mask.join("&")}`, {
    method: "PATCH",
    headers: { ...OWNER, "Content-Type": "application/json" },
    body: JSON.stringify({ fields: encoded(fields) }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

function encoded(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Date ? { timestampValue: value.toISOString() } : { stringValue: value },
    ]),
  );
}

export function upload(eventId, photoId, uploaderName = "Ann") {
  return write(`events/${eventId}/photos/${photoId}`, {
    status: "pending",
    url: "https://firebasestorage.googleapis.com/v0/b/demo-wall.firebasestorage.app/o/1.jpg",
    uploaderName,
    uploaderUid: "ann",
    createdAt: new Date(),
  });
}

/** Waits until nothing that the page shows is still loading. */
export function loaded(page) {
  return page.waitForFunction(() => !document.querySelector(".skeleton"));
}

/** Waits until the list has endpoints and each shows its health, so that its listeners have started. */
export function healthShown(page) {
  return page.waitForFunction(() => {
    const endpoints = [...document.querySelectorAll("[aria-label=Endpoints] > li")];
    return endpoints.length > 0 && endpoints.every((endpoint) => endpoint.querySelector(".badge"));
  });
}

/** Waits until a delivery of the event has succeeded, without the page. */
export async function delivered(eventId) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const answer = await fetch(`${DOCUMENTS}/events/${eventId}/deliveries`, { headers: OWNER });
    if (!answer.ok) throw new Error(await answer.text());
    const { documents = [] } = await answer.json();
    if (documents.some(({ fields }) => fields.outcome?.stringValue === "success")) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("No delivery has succeeded within a minute.");
}

/** Every picture of a guest loads, and is empty. */
export function showPictures(page) {
  return page.route("http://127.0.0.1:9180/pictures/**", (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  );
}

/**
 * Counts what Firestore sends a page, and what aggregations it is asked for, since the page was blank.
 */
export async function countReads(page) {
  let aggregations = 0;
  page.on("request", (request) => {
    // An open list asks every 20 seconds whether the server is there, with a count up to one.
    const isAggregation = request.url().includes(":runAggregationQuery");
    if (isAggregation && !/"limit":1[,}]/.test(request.postData())) aggregations += 1;
  });
  page.on("framenavigated", (frame) => {
    if (frame.url() === "about:blank") aggregations = 0;
  });
  await page.addInitScript(() => {
    const SENT = '"documentChange"';
    globalThis.documents = 0;
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const answer = await real(input, init);
      const isListening = String(input?.url ?? input).includes("/Listen/channel");
      // Cut off with the page.
      if (isListening && answer.body) void count(answer.clone().body).catch(() => {});
      return answer;
    };
    async function count(body) {
      const parts = body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await parts.read(); !part.done; part = await parts.read()) {
        const found = (rest + part.value).split(SENT);
        globalThis.documents += found.length - 1;
        // A possible beginning of the next one.
        rest = found.at(-1).slice(1 - SENT.length);
      }
    }
  });
  return async () => ({ documents: await page.evaluate(() => globalThis.documents), aggregations });
}
