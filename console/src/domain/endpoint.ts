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

/** A receiver of the event (docs/data-model.md). */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  /** Null for the usual types (`USUAL_EVENT_TYPES`). */
  readonly events: readonly EventType[] | null;
  /** What people call it; may be empty. */
  readonly label: string;
  /** Since when an admin has it switched off; null where it is on. */
  readonly offSince: Date | null;
  /** Whether what failed is sent again by itself once the receiver acknowledges. */
  readonly recover: boolean;
  /** Since when and why the service has given it up; null where it has not. */
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

/** What a receiver is called in a list: its label, or host and path. */
export function callName({ url, label }: Pick<Endpoint, "url" | "label">): string {
  const { host, path } = parts(url);
  const text = label || host + path;
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/**
 * What stands for a URL in notices and on the page behind a link: its host, and four characters. The
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

/** Why nothing could ever be delivered to `url`; null where something could. As the service judges. */
export function problem(url: string): string | null {
  const given = url.trim();
  if (!given) return "Enter the address that shall get the webhooks.";
  const bytes = new TextEncoder().encode(given).length;
  if (bytes > MAX_URL_BYTES) return `It has ${bytes} bytes; ${MAX_URL_BYTES} are the most.`;
  // eslint-disable-next-line no-control-regex
  if (/[\x00-\x20\x7f-\xa0]/.test(given)) return "It holds white space or a control character.";
  if (!/^https:\/\//i.test(given)) return "It has to begin with https://";
  let parsed: URL;
  try {
    parsed = new URL(given);
  } catch {
    return "It is not an address that can be read.";
  }
  if (/^https:\/\/[^/?#]*@/i.test(given)) {
    return "It holds a user name or password; leave them out, because each delivery is signed.";
  }
  if (parsed.port && Number(parsed.port) < 1024) return "Deliveries go to port 443 and to ports from 1024 on.";
  return null;
}

/** What will probably keep deliveries from `url`, although it can be saved; null where nothing. */
export function doubt(url: string): string | null {
  if (problem(url)) return null;
  const { hostname } = new URL(url.trim());
  const chat = CHATS.find(([host]) => hostname === host || hostname.endsWith(`.${host}`));
  if (chat) {
    return `${chat[1]} takes messages of a form of its own, and answers deliveries with 400. Put a step of Zapier or Make between, or the relay in docs/receiving.md (Slack and Discord).`;
  }
  if (/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[::1\]|\[f[cd])/.test(hostname)) {
    return "This looks like an address of a private network; deliveries go to public ones alone.";
  }
  return null;
}
