import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { examine, sign } from "../src/domain/signature.ts";

const SECRET = "whsec_dGhpcyBpcyBhIHNlY3JldA";
const T = 1777660200;
const NOW = new Date(T * 1000 + 5000);
const BODY = JSON.stringify({
  event: "photo.uploaded",
  eventId: "midsummer",
  deliveryId: "0f7c",
  timestamp: "2026-05-01T18:30:00.000Z",
  data: {
    photo: {
      id: "p1",
      status: "pending",
      url: "https://example.com/1.jpg",
      uploaderName: "Zoë <b>",
      uploaderEmail: null,
      createdAt: "2026-05-01T18:30:00.000Z",
    },
  },
});
const V1 = createHmac("sha256", SECRET).update(`${T}.${BODY}`).digest("hex");
const HEADER = `t=${T},v1=${V1}`;

const checked = (change: { header?: string; body?: string; secret?: string }, now = NOW) =>
  examine({ header: HEADER, body: BODY, secret: SECRET, ...change }, now);

test("it signs as Node does", async () => {
  assert.equal(await sign(SECRET, T, BODY), V1);
});

test("what was sent verifies, with the header's name before it and any v1 of several", async () => {
  assert.deepEqual(await checked({}), { cause: "none", age: 5 });
  assert.equal((await checked({ header: `Wall-Signature: ${HEADER} ` })).cause, "none");
  assert.equal((await checked({ header: `t=${T},v1=${"0".repeat(64)},v1=${V1}` })).cause, "none");
});

test("a clock that is more than 300 seconds off", async () => {
  assert.equal((await checked({}, new Date((T + 300) * 1000))).cause, "none");
  assert.deepEqual(await checked({}, new Date((T + 301) * 1000)), { cause: "clock", age: 301 });
  assert.deepEqual(await checked({}, new Date((T - 301) * 1000)), { cause: "clock", age: -301 });
});

test("a body that was parsed and written again, however that was done", async () => {
  const parsed = JSON.parse(BODY) as Record<string, unknown>;
  const { photo } = parsed["data"] as { photo: Record<string, unknown> };
  const sorted = {
    data: { photo: Object.fromEntries(Object.entries(photo).sort()) },
    deliveryId: "0f7c",
    event: "photo.uploaded",
    eventId: "midsummer",
    timestamp: parsed["timestamp"],
  };
  const escaped = BODY.replace("ë", "\\u00eb");
  for (const body of [
    JSON.stringify(parsed, null, 2),
    BODY.replaceAll('":', '": ').replaceAll(',"', ', "'),
    JSON.stringify(sorted),
    JSON.stringify(BODY),
    escaped,
    `${BODY}\n`,
    `\uFEFF${BODY}`,
  ]) {
    const found = await checked({ body });
    assert.equal(found.cause, "body", body);
    assert.equal("certain" in found && found.certain, true, body);
  }
});

test("a body that cannot be what was sent, although nobody can tell what that was", async () => {
  for (const body of ["", BODY.slice(0, 80), "[object Object]", '{"photo":{"id":"p1"}}', BODY.replace("Zoë", "Zo\u00eb ").replace('{"event"', '{ "event"')]) {
    const found = await checked({ body });
    assert.equal(found.cause, "body", body);
    assert.equal("certain" in found && found.certain, false, body);
  }
});

test("a secret that was copied with something around it", async () => {
  for (const secret of [` ${SECRET}\n`, `"${SECRET}"`, `WALL_SECRET=${SECRET}`, `WALL_SECRET="${SECRET}"`, SECRET.replace("whsec_", "")]) {
    const found = await checked({ secret });
    assert.deepEqual([found.cause, "certain" in found && found.certain], ["secret", true], secret);
  }
});

test("another secret, where the body is as it was sent", async () => {
  for (const secret of ["whsec_another", ""]) {
    const found = await checked({ secret });
    assert.deepEqual([found.cause, "certain" in found && found.certain], ["secret", false]);
  }
});

test("a header that is none", async () => {
  for (const header of ["", `v1=${V1}`, `t=${T}`, `t=soon,v1=${V1}`, `t=${T},v1=${V1.slice(9)}`]) {
    assert.equal((await checked({ header })).cause, "header", header);
  }
});
