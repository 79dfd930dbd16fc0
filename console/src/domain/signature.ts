// Signatures: made, and looked into where they do not verify. All in the browser.

export const TOLERANCE_SECONDS = 300;

export type Finding =
  /** The header cannot be read. */
  | { readonly cause: "header"; readonly detail: string }
  /** Everything fits. */
  | { readonly cause: "none"; readonly age: number }
  /** The signature fits; its time is too far away. */
  | { readonly cause: "clock"; readonly age: number }
  /** The body was changed on its way to the check; `how` says in what. */
  | { readonly cause: "body"; readonly how: string; readonly certain: boolean }
  | { readonly cause: "secret"; readonly how: string; readonly certain: boolean };

export interface Given {
  readonly header: string;
  readonly body: string;
  readonly secret: string;
}

/** Lowercase hex of HMAC-SHA256 over `<t>.<body>` (spec 5). */
export async function sign(secret: string, at: number | string, body: string): Promise<string> {
  // An empty key is refused by some browsers; nothing verifies with it either way.
  const mac = await hmac(encoded(secret || "\0"), `${at}.${body}`);
  return Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** All headers of a delivery that its signatures are made of (spec 6.2), signed at that Unix time. */
export async function signatureHeaders(secret: string, id: string, at: number, body: string): Promise<readonly (readonly [string, string])[]> {
  const mac = await hmac(standardKey(secret), `${id}.${at}.${body}`);
  return [
    ["Wall-Signature", `t=${at},v1=${await sign(secret, at, body)}`],
    ["webhook-id", id],
    ["webhook-timestamp", String(at)],
    ["webhook-signature", `v1,${btoa(String.fromCharCode(...mac))}`],
  ];
}

// The key of Standard Webhooks: the bytes behind the prefix; of a secret of the older form, its text.
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const [, text = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (!text || text.length % 4) return encoded(secret || "\0");
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const hash = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, hash, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoded(text)));
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Says why `given` does not verify, or that it does. `now` is when the request came in. */
export async function examine(given: Given, now: Date): Promise<Finding> {
  const header = read(given.header);
  if (typeof header === "string") return { cause: "header", detail: header };
  const fits = async (secret: string, body: string) =>
    header.v1.includes(await sign(secret, header.t, body));

  if (await fits(given.secret, given.body)) {
    const age = Math.round(now.getTime() / 1000) - Number(header.t);
    return { cause: Math.abs(age) > TOLERANCE_SECONDS ? "clock" : "none", age };
  }
  for (const [how, secret] of secrets(given.secret)) {
    if (await fits(secret, given.body)) return { cause: "secret", how, certain: true };
  }
  for (const [how, body] of bodies(given.body)) {
    for (const [, secret] of [["", given.secret] as const, ...secrets(given.secret)]) {
      if (await fits(secret, body)) return { cause: "body", how, certain: true };
    }
  }
  const changed = signsOfChange(given.body);
  if (changed) return { cause: "body", how: changed, certain: false };
  return {
    cause: "secret",
    how: "The body looks as it was sent, byte for byte. So this is another secret than the one that signed.",
    certain: false,
  };
}

// The parts of a header, or its fault in words.
function read(header: string): { t: string; v1: string[] } | string {
  const value = header.trim().replace(/^wall-signature\s*:\s*/i, "");
  const pairs = value.split(",").map((part) => part.trim().split(/=(.*)/s, 2));
  const t = pairs.find(([name]) => name === "t")?.[1];
  const v1 = pairs.flatMap(([name, text]) => (name === "v1" && text ? [text.toLowerCase()] : []));
  if (t === undefined) return "It has no t=, the time of the signature.";
  if (!/^\d{1,15}$/.test(t)) return "Its t= is not a number of seconds.";
  if (!v1.length) return "It has no v1=, the signature itself.";
  if (!v1.some((one) => /^[0-9a-f]{64}$/.test(one))) {
    return "Its v1= is not 64 hexadecimal digits: it was cut off, or encoded in another way.";
  }
  return { t, v1 };
}

// What a secret turns into when it is copied, by what happened to it.
function secrets(secret: string): [string, string][] {
  const bare = secret.trim();
  const unquoted = bare.replace(/^(["'`])(.*)\1$/s, "$2");
  const named = unquoted.replace(/^[A-Za-z_]+\s*[=:]\s*/, "").replace(/^(["'`])(.*)\1$/s, "$2");
  const tries: [string, string][] = [
    ["There is white space around the secret.", bare],
    ["There are quotation marks around the secret.", unquoted],
    ["A name stands before the secret.", named],
    ["The prefix whsec_ is missing: it is part of the secret.", `whsec_${named}`],
  ];
  return tries.filter(([, one]) => one && one !== secret);
}

// What was probably sent, where a body was changed, by what happened to it.
function bodies(body: string): [string, string][] {
  const tries: [string, string][] = [
    ["There is a line break or blank at the end that was not sent.", body.trimEnd()],
    ["There is white space around the body that was not sent.", body.trim()],
    ["A byte order mark stands before the body.", body.replace(/^\uFEFF/, "")],
    ["Line breaks were changed.", body.replaceAll("\r\n", "\n")],
  ];
  try {
    const parsed: unknown = JSON.parse(body.replace(/^\uFEFF/, ""));
    const text = typeof parsed === "string" ? parsed : null;
    if (text !== null) tries.push(["The body was put into a JSON string once more.", text]);
    tries.push([
      "The body was parsed and written again: blanks, line breaks or escapes are not those that were sent.",
      JSON.stringify(parsed),
    ]);
    tries.push([
      "The body was parsed and written again, with its fields in another order.",
      JSON.stringify(inOrder(parsed)),
    ]);
  } catch {
    // No JSON, so there is nothing to write as the service does.
  }
  return tries.filter(([, one]) => one !== body);
}

// The order in which the service writes (docs/openapi.yaml).
const ORDER = [
  ...["event", "eventId", "deliveryId", "timestamp", "data"],
  ...["photo", "milestone", "reachedAt", "latestPhoto", "eventName", "template", "publishedAt"],
  ...["galleryUrl", "archivedAt", "photoCount"],
  ...["id", "status", "url", "uploaderName", "uploaderEmail", "createdAt", "approvedAt", "approvedBy"],
  ...["rejectedAt", "rejectedBy", "reason", "firstPhotoId", "joinedAt"],
];

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const rank = (name: string) => (ORDER.indexOf(name) + ORDER.length) % ORDER.length;
  const entries = Object.entries(value).sort(([one], [other]) => rank(one) - rank(other));
  return Object.fromEntries(entries.map(([name, one]) => [name, inOrder(one)]));
}

// Why a body cannot be what was sent, although what was sent cannot be told; empty where it can.
function signsOfChange(body: string): string {
  if (!body) return "The body is empty: it was read before, or not passed on.";
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return "The body is no JSON any more: it was cut off, decoded or printed by a program.";
  }
  const isEnvelope =
    typeof parsed === "object" &&
    parsed !== null &&
    ["event", "eventId", "deliveryId", "timestamp", "data"].every((name) => name in parsed);
  if (!isEnvelope) return "This is a part of the body, or another one: event, deliveryId and data stand in all.";
  if (JSON.stringify(parsed) !== body) {
    return "The body was parsed and written again. Take the bytes as they come, before any parsing.";
  }
  return "";
}
