// Guests whom a recap did not reach, from the record of its mails: a hash of each address, and facts.

// 16 bytes of the hash and one of facts for each mail; the facts as in functions/mail/tracking.py.
const HASH_BYTES = 16;
const DROPPED = 1;
const DELIVERED = 2;
const BOUNCED = 4;
const COMPLAINED = 8;

export type Trouble = "bounced" | "dropped" | "complained";

/** The trouble with each mail that had trouble, by the hash of its address. */
export function troubles(entries: Uint8Array): ReadonlyMap<string, Trouble> {
  const found = new Map<string, Trouble>();
  for (let at = 0; at + HASH_BYTES < entries.length; at += HASH_BYTES + 1) {
    const facts = entries[at + HASH_BYTES] ?? 0;
    const trouble = facts & COMPLAINED ? "complained" : facts & BOUNCED ? "bounced" : (facts & (DROPPED | DELIVERED)) === DROPPED ? "dropped" : null;
    if (trouble) found.set(hex(entries.subarray(at, at + HASH_BYTES)), trouble);
  }
  return found;
}

/** The hash by which records know an address. */
export async function addressHash(address: string): Promise<string> {
  const bytes = new TextEncoder().encode(address.trim().toLowerCase());
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, HASH_BYTES));
}

export const TROUBLE_WORDS: Readonly<Record<Trouble, string>> = {
  bounced: "the address does not exist, or refused the mail",
  dropped: "not sent on: an earlier mail to the address came back",
  complained: "marked it as spam, and gets no more recaps",
};

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
