// Whose turn it is with a delivery, and what to do: one sentence on top of it.

import { type Attempt, type Delivery, isAcknowledged, isOpen, lastAttempt } from "./delivery.ts";
import { statusWords } from "./words.ts";

export interface Verdict {
  readonly turn: "nobody" | "receiver" | "organizer";
  readonly words: string;
}

/** The verdict on a delivery; null while its first attempt is under way. `recovers`: its receiver gets again what failed. */
export function verdict(delivery: Delivery, recovers = false): Verdict | null {
  const { outcome, reason } = delivery;
  if (outcome === "success") return { turn: "nobody", words: "Delivered. No action needed." };
  if (outcome === "skipped") return { turn: "organizer", words: `${lastAttempt(delivery) ? "No more attempts" : "Not sent"}: ${reason ?? "the URL is invalid"}. ${skippedAdvice(reason ?? "")}` };
  const last = lastAttempt(delivery);
  if (!last || isAcknowledged(last)) return null;
  const { fault, advice } = diagnosis(last);
  const rest = isOpen(delivery)
    ? "We'll retry automatically."
    : recovers ? "It will be resent automatically once the problem is fixed." : "No more automatic retries. Resend it once the problem is fixed.";
  return { turn: "receiver", words: `${fault} ${advice} ${rest}` };
}

function skippedAdvice(reason: string): string {
  if (reason === "the URL was removed") return "Add the URL under Webhooks again, then resend this delivery.";
  if (reason === "the URL no longer takes this event type") return "Resend this delivery if the endpoint still needs it.";
  return reason.startsWith("the URL is disabled") || reason === "the URL is switched off"
    ? "Turn the endpoint on under Webhooks, then resend this delivery."
    : "Edit the URL under Webhooks.";
}

interface Diagnosis {
  /** Who failed, and in what. */
  readonly fault: string;
  /** Advice for the endpoint's developers. */
  readonly advice: string;
}

/** The cause of a failed attempt. */
export function diagnosis({ status, error }: Pick<Attempt, "status" | "error">): Diagnosis {
  if (status !== null) return ofStatus(status);
  for (const [beginning, found] of OF_ERRORS) if (error?.startsWith(beginning)) return found;
  return { fault: `The endpoint couldn't be reached: ${error ?? "no answer"}.`, advice: "Ask its developers to check the server." };
}

function ofStatus(status: number): Diagnosis {
  const fault = `The endpoint answered ${statusWords(status)}.`;
  const advice = BY_STATUS[status] ?? (status >= 500
    ? "The endpoint returned an error. Check its server logs."
    : status >= 300 && status < 400
      ? "Redirects are not followed. Enter the URL it redirects to."
      : "The endpoint rejected the request. Check its server logs.");
  return { fault, advice };
}

const BY_STATUS: Readonly<Record<number, string>> = {
  401: "Usually this means signature verification failed. The event reference shows how to verify.",
  403: "Usually this means signature verification failed. The event reference shows how to verify.",
  404: "The endpoint doesn't accept POST requests at this path. Check the URL.",
  405: "The endpoint doesn't accept POST requests at this path. Check the URL.",
  408: "The endpoint timed out. Ask its developers to check the server.",
  410: "The endpoint says this URL is gone permanently. Remove the endpoint or edit its URL.",
  413: "The request is too large for the endpoint. Its limit needs raising.",
  429: "The endpoint is rate limiting us. Its limit may need raising.",
  502: "The gateway couldn't reach the application.",
  503: "The endpoint is overloaded or in maintenance.",
  504: "The gateway timed out waiting for the application.",
};

const OF_ERRORS: readonly (readonly [string, Diagnosis])[] = [
  ["no answer within", { fault: "The endpoint didn't answer within five seconds.", advice: "It should answer first and do the work afterward." }],
  ["the host name does not resolve", { fault: "Host not found (DNS).", advice: "Check the URL. Its DNS record may be missing." }],
  ["the certificate is not valid", { fault: "The endpoint's certificate isn't valid.", advice: "Renew it, or send the full certificate chain." }],
  ["the TLS handshake failed", { fault: "TLS handshake failed.", advice: "The endpoint must support TLS 1.2 or newer on this port." }],
  ["the connection was refused", { fault: "The endpoint refused the connection.", advice: "Its server may be down, or a firewall is blocking us." }],
  ["the connection was closed", { fault: "The endpoint closed the connection without answering.", advice: "Its server may have crashed. Check its logs." }],
  ["the host cannot be reached", { fault: "The endpoint's host can't be reached.", advice: "Its server may be down, or a firewall is blocking us." }],
  ["the answer is not HTTP", { fault: "The server on this port doesn't speak HTTP.", advice: "Check the host and port." }],
];
