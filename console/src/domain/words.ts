// The words for states and responses.

import {
  ATTEMPTS,
  type Attempt,
  type Delivery,
  type Outcome,
  lastAttempt,
  waitsForItsTurn,
} from "./delivery.ts";
import { LANGUAGE } from "./time.ts";

export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  pending: "Pending",
  retrying: "Retrying",
  success: "Delivered",
  failed: "Failed",
  skipped: "Skipped",
};

// RFC 9110 and the few others that receivers answer with.
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  418: "I'm a teapot",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** `404 Not Found`. */
export function statusWords(status: number): string {
  const words = STATUS_WORDS[status];
  return words ? `${status} ${words}` : String(status);
}

/** The outcome of an attempt, in a few words. */
export function attemptWords({ status, error }: Pick<Attempt, "status" | "error">): string {
  if (status !== null) return statusWords(status);
  return error ?? "no answer";
}

/** `2 of 4`; a dash without an attempt. */
export function attemptsWords(delivery: Delivery): string {
  return delivery.attempts ? `${delivery.attempts} of ${ATTEMPTS}` : "–";
}

/** The outcome of the last attempt, or why there was none yet. */
export function lastWords(delivery: Delivery): string {
  if (delivery.outcome === "skipped") return delivery.reason ?? "Not sent";
  const last = lastAttempt(delivery);
  if (last) return attemptWords(last);
  if (!waitsForItsTurn(delivery)) return "";
  return delivery.slow ? "queued (slow endpoint)" : "queued behind earlier deliveries";
}

/** The highest count that is asked for: the rules allow no larger page. */
export const COUNTED = 500;

/** `7`, or `500+` if there are more than are counted. */
export function counted(number: number): string {
  return number < COUNTED ? String(number) : `${COUNTED}+`;
}

/** `1 delivery`, `2 deliveries`. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString(LANGUAGE)} ${number === 1 ? one : many}`;
}

/** Deliveries that are not sent again, by the reason. */
export interface LeftAlone {
  readonly removedUrl: number;
  readonly disabledUrl: number;
  readonly unusableUrl: number;
  readonly tests: number;
}

/** Why deliveries are not sent again; empty if there are none. */
export function leftAloneWords({ removedUrl, disabledUrl, unusableUrl, tests }: LeftAlone): string {
  const counts = [
    [removedUrl, "to a removed endpoint"],
    [disabledUrl, "to a disabled endpoint"],
    [unusableUrl, "to an invalid URL"],
    [tests, tests === 1 ? "test" : "tests"],
  ] as const;
  return counts.filter(([number]) => number > 0).map(([number, words]) => `${number.toLocaleString(LANGUAGE)} ${words}`).join("; ");
}
