// Errors in the words of the people at the page, with what they can do.

import { ChangedMeanwhileError, NoAnswerError, RefusedError } from "../data/errors.ts";
import { longTime } from "../domain/time.ts";

const WORDS: Readonly<Record<string, string>> = {
  "permission-denied": "Your account may not see or do this. If that is new, sign out and in again: rights change with the next sign-in.",
  unavailable: "The service cannot be reached. Are you offline?",
  unauthenticated: "You are signed out. Sign in again.",
  "deadline-exceeded": "It took too long. Try again.",
  "not-found": "This is not there (any more).",
  "resource-exhausted": "That was too often. Try again later.",
  "auth/invalid-credential": "E-mail address and password do not go together.",
  "auth/user-not-found": "E-mail address and password do not go together.",
  "auth/wrong-password": "E-mail address and password do not go together.",
  "auth/invalid-email": "That is no e-mail address.",
  "auth/invalid-action-code": "This link was used before, or is too old. Have another one mailed.",
  "auth/expired-action-code": "This link was used before, or is too old. Have another one mailed.",
  "auth/operation-not-allowed": "This project has that way of signing in switched off.",
  "auth/user-disabled": "This account is switched off.",
  "auth/too-many-requests": "Too many attempts. Wait some minutes, or reset the password.",
  "auth/unauthorized-continue-uri": "Mails may not lead to this site yet. The operator of this service has to add it to the authorized domains.",
  "auth/network-request-failed": "The sign-in service cannot be reached. Are you offline?",
};

/** An error's text: the service's own words where it has some. */
export function wordsOf(error: unknown): string {
  if (error instanceof RefusedError) {
    return error.possibleFrom ? nextRecapWords(error.possibleFrom) : error.message;
  }
  if (error instanceof ChangedMeanwhileError) return error.message;
  if (error instanceof NoAnswerError) return noAnswerWords(error);
  const { code = "" } = (error ?? {}) as { code?: string };
  return WORDS[code.replace(/^firestore\//, "")] ?? "Something went wrong. Try again.";
}

/** Whether the rules refuse a read, as they do for a missing document. */
export function isRefusal(error: unknown): boolean {
  return (error as { code?: string }).code === "permission-denied";
}

export function nextRecapWords(from: Date): string {
  return `The next recap can be sent from ${longTime(from)} on: one in 24 hours.`;
}

function noAnswerWords({ lookAt, isTimeout }: NoAnswerError): string {
  const cause = isTimeout ? "No answer came in time." : "The service cannot be reached.";
  return lookAt
    ? `${cause} Whether this was done is not known: look at ${lookAt} before you try again.`
    : `${cause} Nothing was changed; try again.`;
}
