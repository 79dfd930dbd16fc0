// What a recap came to, in words.

import { count } from "./words.ts";
import { LANGUAGE } from "./time.ts";

/** Recorded counts of a recap; `told` is what the mail service said later, null where it said nothing. */
export interface RecapCounts {
  readonly state: string;
  readonly sent: number;
  readonly left: number;
  readonly told: {
    readonly delivered: number;
    readonly bounced: number;
    readonly dropped: number;
    readonly complained: number;
  } | null;
}

/** `8 arrived, 1 address does not exist, 1 marked it as spam`; before anything is told, how many left. */
export function recapWords({ state, sent, left, told }: RecapCounts): string {
  const parts = told ? arrivalWords(told) : [];
  const known = told ? told.delivered + told.bounced + told.dropped : 0;
  const open = sent - known;
  if (!known) parts.unshift(`${count(sent, "mail", "mails")} sent`);
  else if (open > 0) parts.push(`of ${open.toLocaleString(LANGUAGE)} nothing is known yet`);
  if (state === "sending" || state === "interrupted") parts.push(`${left.toLocaleString(LANGUAGE)} still to be sent`);
  return `${parts.join(", ")}.`;
}

/** What a call of `sendEventRecap` came to. */
export function sentWords({ sent, skipped = 0, message = "", notes = [] }: Answered): string {
  const counts = `${count(sent, "mail was", "mails were")} sent${skipped ? `, ${count(skipped, "guest was", "guests were")} skipped` : ""}.`;
  return [counts, message, ...notes].filter(Boolean).join(" ");
}

interface Answered {
  readonly sent: number;
  readonly skipped?: number;
  readonly message?: string;
  readonly notes?: readonly string[];
}

/** The language that a mail says it is in; empty where it says nothing. */
export function languageOf(html: string): string {
  return /<html[^>]* lang="([A-Za-z0-9-]+)"/.exec(html)?.[1] ?? "";
}

function arrivalWords({ delivered, bounced, dropped, complained }: NonNullable<RecapCounts["told"]>): string[] {
  return [
    // A complaint is about a mail that arrived.
    delivered && `${delivered.toLocaleString(LANGUAGE)} arrived${complained ? `, of which ${complained.toLocaleString(LANGUAGE)} ${complained === 1 ? "was" : "were"} marked as spam` : ""}`,
    bounced && `${count(bounced, "address does", "addresses do")} not exist or refused it`,
    dropped && `${count(dropped, "was", "were")} not sent on, as earlier mails came back`,
    !delivered && complained && `${complained.toLocaleString(LANGUAGE)} marked it as spam`,
  ].filter((words): words is string => typeof words === "string");
}

/** Why a mail did not reach a guest, or was unwelcome. */
export type Trouble = "bounced" | "dropped" | "complained";

export const TROUBLE_WORDS: Readonly<Record<Trouble, string>> = {
  bounced: "the address does not exist, or refused the mail",
  dropped: "not sent on: an earlier mail to the address came back",
  complained: "marked it as spam, and gets no more recaps",
};
