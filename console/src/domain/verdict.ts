// Whose turn it is with a delivery, and what to do: one sentence on top of it.

import { type Attempt, type Delivery, isAcknowledged, isOpen, lastAttempt } from "./delivery.ts";
import { statusWords } from "./words.ts";

export interface Verdict {
  readonly turn: "nobody" | "receiver" | "organizer";
  readonly words: string;
}

/** What there is to say of a delivery; null while its first attempt is on its way. `recovers`: its receiver gets again what failed. */
export function verdict(delivery: Delivery, recovers = false): Verdict | null {
  const { outcome, reason } = delivery;
  if (outcome === "success") return { turn: "nobody", words: "The receiver has it. There is nothing to do." };
  if (outcome === "skipped") return { turn: "organizer", words: `Nothing ${lastAttempt(delivery) ? "more " : ""}was sent: ${reason ?? "the URL cannot be used"}. ${skippedAdvice(reason ?? "")}` };
  const last = lastAttempt(delivery);
  if (!last || isAcknowledged(last)) return null;
  const { fault, advice } = diagnosis(last);
  const rest = isOpen(delivery)
    ? "It is tried again by itself."
    : recovers ? "Once that is fixed it is sent again by itself." : "It is not tried again by itself: send it again once that is fixed.";
  return { turn: "receiver", words: `${fault} ${advice} ${rest}` };
}

function skippedAdvice(reason: string): string {
  if (reason === "the URL was removed") return "Add the URL under Receivers again, then send this again.";
  if (reason === "the URL no longer takes this event type") return "Send this again if the receiver still needs it.";
  return reason.startsWith("the URL is disabled") || reason === "the URL is switched off"
    ? "Switch the receiver on again under Receivers, then send this again."
    : "Change the URL under Receivers.";
}

interface Diagnosis {
  /** Who failed, and in what. */
  readonly fault: string;
  /** What the people behind the receiver can do. */
  readonly advice: string;
}

/** What went wrong in an attempt that was not acknowledged. */
export function diagnosis({ status, error }: Pick<Attempt, "status" | "error">): Diagnosis {
  if (status !== null) return ofStatus(status);
  for (const [beginning, found] of OF_ERRORS) if (error?.startsWith(beginning)) return found;
  return { fault: `The receiver was not reached: ${error ?? "no answer"}.`, advice: "Its people have to look at their server." };
}

function ofStatus(status: number): Diagnosis {
  const fault = `The receiver's server answered ${statusWords(status)}.`;
  const advice = BY_STATUS[status] ?? (status >= 500
    ? "It failed on its side: its own log says why."
    : status >= 300 && status < 400
      ? "Redirects are not followed: enter the address that it leads to."
      : "It refuses the message: its own log says why.");
  return { fault, advice };
}

const BY_STATUS: Readonly<Record<number, string>> = {
  401: "Mostly a signature did not verify: docs/receiving.md shows how to verify.",
  403: "Mostly a signature did not verify: docs/receiving.md shows how to verify.",
  404: "It takes no POST at this path: compare the URL with theirs.",
  405: "It takes no POST at this path: compare the URL with theirs.",
  408: "It gave up waiting: its people have to look at their server.",
  410: "It says that the address is gone for good: remove the receiver, or change its URL.",
  413: "It takes no message of this size: its limit has to be raised.",
  429: "It takes no more for now: its limit has to be raised.",
  502: "Its front end does not reach the program behind it.",
  503: "It is overloaded or in maintenance.",
  504: "Its front end got no answer from the program behind it in time.",
};

const OF_ERRORS: readonly (readonly [string, Diagnosis])[] = [
  ["no answer within", { fault: "The receiver did not answer within five seconds.", advice: "It should answer first, and do the work afterwards." }],
  ["the host name does not resolve", { fault: "Nobody knows the receiver's host name.", advice: "Compare the URL with theirs; its DNS entry may be missing." }],
  ["the certificate is not valid", { fault: "The receiver's certificate is not valid.", advice: "It has to be renewed, or sent with its whole chain." }],
  ["the TLS handshake failed", { fault: "No secure connection came about.", advice: "The receiver has to speak TLS 1.2 or newer at this port." }],
  ["the connection was refused", { fault: "The receiver's host takes no connection at this port.", advice: "Its server may not run, or a firewall keeps us out." }],
  ["the connection was closed", { fault: "The receiver closed the connection without an answer.", advice: "Its server may have crashed: its own log says why." }],
  ["the host cannot be reached", { fault: "The receiver's host cannot be reached.", advice: "Its server may be off, or a firewall keeps us out." }],
  ["the answer is not HTTP", { fault: "Something that is no web server answers at this port.", advice: "Compare host and port with theirs." }],
];
