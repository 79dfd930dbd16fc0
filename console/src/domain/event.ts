// An event of the wall, as far as people name it.

import { LANGUAGE } from "./time.ts";

export const STATUSES = ["draft", "published", "archived"] as const;
export type EventStatus = (typeof STATUSES)[number];

export function statusWords(status: EventStatus): string {
  return { draft: "Draft", published: "Published", archived: "Archived" }[status];
}

// The languages of the emails' catalogs. The build inserts them.
declare const __LANGUAGES__: readonly string[];

/** Languages that mails to guests are written in. */
export const LANGUAGES = __LANGUAGES__;
export const ENGLISH = "en";

/** A language's own name, with the first letter large: `Deutsch`. */
export function languageName(tag: string): string {
  try {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
    return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
  } catch {
    return tag;
  }
}

/** The same check as in the rules, because links and webhooks contain the ID. */
export function isEventId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(id) && !/^__.*__$/.test(id);
}

/** An id that a name suggests: `Anna & Björn 2026` becomes `anna-bjorn-2026`, a name without latin letters `event-` and the day. */
export function suggestedId(name: string, day: Date): string {
  const plain = name.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const id = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  // A name in other letters: the id has to be something.
  return id || (plain.trim() && `event-${day.toISOString().slice(0, 10)}`);
}

/** Why the address of a page cannot be saved; null if it can. As the rules judge. */
export function linkProblem(address: string): string | null {
  if (!address) return null;
  const isLink = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?([/?#][!-~]*)?$/i.test(address);
  return isLink && address.length <= 2048 ? null : "Enter a full URL starting with https://, or leave it empty.";
}

/** Why the address of a logo cannot be saved; null if it can. As the rules judge. */
export function logoProblem(address: string): string | null {
  const isLong = address.length > 2000;
  return isLong || /^http:/i.test(address) ? "Enter a full URL starting with https://, at most 2,000 characters, or leave it empty." : linkProblem(address);
}

/** Why a colour cannot be saved; null if it can. As the rules judge. */
export function colourProblem(colour: string): string | null {
  return /^(#[0-9a-f]{6})?$/i.test(colour) ? null : "Enter a color such as #1f5fbf, or leave it empty.";
}

export const MAX_DAYS = 3650;

/** Returns why a number of days can't be saved, by the rules; null if it can, or if the field is empty. */
export function daysProblem(days: string): string | null {
  const given = days.trim();
  if (!given || (/^\d+$/.test(given) && Number(given) >= 1 && Number(given) <= MAX_DAYS)) return null;
  return `Enter a number from 1 to ${MAX_DAYS.toLocaleString(LANGUAGE)}, or leave it empty.`;
}
