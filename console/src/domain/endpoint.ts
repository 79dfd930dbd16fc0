// A webhook URL: how it is shown, its name in an address, and which URLs may be saved (spec 2.1, 3.4).

import type { EventType } from "./event_type.ts";

export const MAX_URLS = 20;
export const MAX_URL_BYTES = 1499;
export const MAX_LABEL_CHARACTERS = 40;
const CHATS = [
  ["slack.com", "Slack"],
  ["discord.com", "Discord"],
  ["discordapp.com", "Discord"],
] as const;

/** Ports that browsers refuse (https://fetch.spec.whatwg.org/#port-blocking), and the service too. */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115,
  117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601,
  636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** A receiver of the event (docs/data-model.md). */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  /** Null for the usual types (`USUAL_EVENT_TYPES`). */
  readonly events: readonly EventType[] | null;
  /** Listed event types that do not exist: a script wrote them, and they match nothing. */
  readonly unknownEvents: readonly string[];
  /** Its label; may be empty. */
  readonly label: string;
  /** Since when an admin has it switched off; null if it is on. */
  readonly offSince: Date | null;
  /** Whether what failed is sent again by itself once the receiver acknowledges. */
  readonly recover: boolean;
  /** Since when and why the service has given it up; null if it has not. */
  readonly disabled: { readonly reason: string; readonly at: Date | null } | null;
}

/** Host and path for reading; the query stays out of sight, as keys are mostly there. */
export function parts(url: string): { readonly host: string; readonly path: string } {
  try {
    const { host, pathname, search } = new URL(url);
    if (!host) return { host: url, path: "" };
    return { host, path: pathname + (search ? "?…" : "") };
  } catch {
    return { host: url || "(empty)", path: "" };
  }
}

/** The name of an endpoint in a list: its label, or host and path. */
export function callName({ url, label }: Pick<Endpoint, "url" | "label">): string {
  const { host, path } = parts(url);
  const text = label || host + path;
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/**
 * The name of a URL in notices and on the page behind a link: its host, and four characters. The
 * service gives the same names (functions/webhooks/deliveries/endpoint_url.py).
 */
export async function nameOf(url: string): Promise<string> {
  const host = problem(url) ? "" : new URL(url).hostname;
  const readable = host.toLowerCase().replace(/[^a-z0-9.-]/g, "").slice(0, 60);
  return `${readable || "url"}~${(await sha256(url)).slice(0, 4)}`;
}

/** The id of an endpoint whose entry in the settings has none. */
export async function keyOf(url: string): Promise<string> {
  return `u${(await sha256(url)).slice(0, 32)}`;
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Why nothing could ever be delivered to `url`; null if something could. As the service judges. */
export function problem(url: string): string | null {
  const given = url.trim();
  if (!given) return "Enter a URL.";
  const bytes = new TextEncoder().encode(given).length;
  if (bytes > MAX_URL_BYTES) return `The URL has ${bytes} bytes. The maximum is ${MAX_URL_BYTES}.`;
  // eslint-disable-next-line no-control-regex
  if (/[\x00-\x20\x7f-\xa0]/.test(given)) return "URL can't contain spaces.";
  if (!/^https:\/\//i.test(given)) return "URL must start with https://";
  if (!URL.canParse(given) || /^[^/]*\/\/[^/?#]*\\/.test(given)) return "Enter a valid URL.";
  return null;
}

/** A warning about `url` if deliveries will probably fail although it can be saved; otherwise null. */
export function doubt(url: string): string | null {
  if (problem(url)) return null;
  const { hostname, port, username, password } = new URL(url.trim());
  if (BAD_PORTS.has(Number(port || 443))) {
    return "Deliveries to this port are blocked and will always fail.";
  }
  if (username || password) {
    return "Anyone who can view this event's webhooks will see this username and password. Verify the signature instead.";
  }
  const chat = CHATS.find(([host]) => hostname === host || hostname.endsWith(`.${host}`));
  if (chat) {
    return `${chat[1]} needs its own message format and rejects deliveries with 400. Put Zapier, Make or a small relay in between.`;
  }
  if (/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[::1\]|\[f[cd])/.test(hostname)) {
    return "This looks like a private network address. Deliveries only go to public addresses.";
  }
  return null;
}
