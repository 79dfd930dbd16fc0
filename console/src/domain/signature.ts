// The signatures of a delivery (spec 5), made in the browser for a command that is copied.

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
