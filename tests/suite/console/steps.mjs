// What people do again and again.

export async function signIn(page, site, { email, password }, place = "") {
  await page.goto(`${site}/console${place}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** The row of a delivery of that type to that path. */
export function row(page, type, path) {
  return page.getByRole("row").filter({ hasText: type }).filter({ hasText: path });
}

/** Writes a document as the project's own scripts do, which no rule holds back. */
export async function write(path, fields) {
  const base = "http://127.0.0.1:8080/v1/projects/demo-wall/databases/(default)/documents";
  const answer = await fetch(`${base}/${path}`, {
    method: "PATCH",
    headers: { Authorization: "Bearer owner", "Content-Type": "application/json" },
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

export function upload(eventId, photoId) {
  return write(`events/${eventId}/photos/${photoId}`, {
    status: "pending",
    url: "https://example.com/1.jpg",
    uploaderName: "Ann",
    uploaderUid: "ann",
    createdAt: new Date(),
  });
}

/** Counts what Firestore sends this page: documents, and aggregations asked for. */
export async function countReads(page) {
  await page.addInitScript(() => {
    const reads = { documents: 0, aggregations: 0 };
    globalThis.reads = reads;
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const answer = await real(input, init);
      const url = String(input?.url ?? input);
      if (url.includes(":runAggregationQuery")) reads.aggregations += 1;
      if (url.includes("/Listen/channel") && answer.body) count(answer.clone().body).catch(() => {}); // cut off with the page
      return answer;
    };
    async function count(body) {
      const text = body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await text.read(); !part.done; part = await text.read()) {
        const all = rest + part.value;
        reads.documents += all.split('"documentChange"').length - 1;
        // What may be the first half of the next one.
        rest = all.slice(-'"documentChange"'.length + 1);
        if (all.endsWith('"documentChange"')) rest = "";
      }
    }
  });
  return () => page.evaluate(() => globalThis.reads);
}
