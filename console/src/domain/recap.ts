// The outcome of a recap, in words.

import { count } from "./words.ts";
import { LANGUAGE } from "./time.ts";

/**
 * Recorded counts of a recap; `told` has the provider's later reports, null if there are none. A mail server
 * (`byMailServer`) sends no reports.
 */
export interface RecapCounts {
  readonly state: string;
  readonly sent: number;
  readonly left: number;
  readonly byMailServer?: boolean;
  readonly told: {
    readonly delivered: number;
    readonly bounced: number;
    readonly dropped: number;
    readonly complained: number;
  } | null;
}

/** `8 delivered, 1 bounced, 1 marked as spam``; before the first report, the number of sent emails. */
export function recapWords({ state, sent, left, told, byMailServer = false }: RecapCounts): string {
  const parts = told ? arrivalWords(told) : [];
  const known = told ? told.delivered + told.bounced + told.dropped : 0;
  const open = sent - known;
  if (!known) parts.unshift(`${count(sent, "email", "emails")} ${byMailServer ? "accepted by the mail server" : "sent"}`);
  else if (open > 0) parts.push(`${open.toLocaleString(LANGUAGE)} pending`);
  if (state === "sending" || state === "interrupted") parts.push(`${left.toLocaleString(LANGUAGE)} not sent yet`);
  return `${parts.join(", ")}.`;
}

/** The outcome of a call of `sendEventRecap`. */
export function sentWords({ sent, skipped = 0 }: Answered): string {
  return `${count(sent, "email was", "emails were")} sent${skipped ? `, ${count(skipped, "guest was", "guests were")} skipped` : ""}.`;
}

interface Answered {
  readonly sent: number;
  readonly skipped?: number;
}

/** The language that a mail says it is in; empty if it says nothing. */
export function languageOf(html: string): string {
  return /<html[^>]* lang="([A-Za-z0-9-]+)"/.exec(html)?.[1] ?? "";
}

function arrivalWords({ delivered, bounced, dropped, complained }: NonNullable<RecapCounts["told"]>): string[] {
  return [
    // A complaint is about a mail that arrived.
    delivered && `${delivered.toLocaleString(LANGUAGE)} delivered${complained ? ` (${complained.toLocaleString(LANGUAGE)} marked as spam)` : ""}`,
    bounced && `${bounced.toLocaleString(LANGUAGE)} bounced`,
    dropped && `${dropped.toLocaleString(LANGUAGE)} suppressed (bounced earlier)`,
    !delivered && complained && `${complained.toLocaleString(LANGUAGE)} marked as spam`,
  ].filter((words): words is string => typeof words === "string");
}

/** Why a mail did not reach a guest, or was unwelcome. */
export type Trouble = "bounced" | "dropped" | "complained";

export const TROUBLE_WORDS: Readonly<Record<Trouble, string>> = {
  bounced: "bounced: the address doesn't exist or rejected the email",
  dropped: "suppressed: an earlier email to this address bounced",
  complained: "marked as spam; won't get recaps from now on",
};
