// Errors in the words of the people at the page, with a next step.

import { ChangedMeanwhileError, NoAnswerError, RefusedError } from "../data/errors.ts";
import { longTime, shortTime } from "../domain/time.ts";

const WORDS: Readonly<Record<string, string>> = {
  "permission-denied": "You don't have permission to do this. If your role just changed, sign out and back in.",
  unavailable: "Can't reach the server. Check your connection.",
  unauthenticated: "You're signed out. Sign in again.",
  "deadline-exceeded": "The request timed out. Try again.",
  "not-found": "This no longer exists.",
  "resource-exhausted": "Too many requests. Try again later.",
  "auth/invalid-credential": "Wrong email or password.",
  "auth/user-not-found": "Wrong email or password.",
  "auth/wrong-password": "Wrong email or password.",
  "auth/invalid-email": "Enter a valid email address.",
  "auth/invalid-action-code": "This link has expired or was already used. Request a new one.",
  "auth/expired-action-code": "This link has expired or was already used. Request a new one.",
  "auth/operation-not-allowed": "This sign-in method isn't enabled.",
  "auth/user-disabled": "This account has been disabled.",
  "auth/too-many-requests": "Too many attempts. Wait some minutes, or reset the password.",
  "auth/unauthorized-continue-uri": "Sign-in links aren't set up for this site yet. Ask your administrator to add it to the authorized domains.",
  "auth/network-request-failed": "Can't reach the sign-in service. Check your connection.",
};

// Refusals of the service's functions, by call and code: the service's own texts are for developers.
const REFUSALS: Readonly<Record<string, string>> = {
  "sendEventRecap ABORTED": "A recap of this event is already being sent. Try again when it has finished.",
  "previewEventRecap FAILED_PRECONDITION": "Verify your email address to receive test emails.",
  "previewEventRecap NOT_FOUND": "No approved photo was uploaded with that address. Choose another guest.",
  "resendWebhook FAILED_PRECONDITION": "This delivery can't be resent now. It may still be in progress, or its endpoint was removed, turned off or has an invalid URL.",
  "resendSharedWebhook FAILED_PRECONDITION": "This delivery can't be resent now. It may still be in progress, or its endpoint was removed or turned off.",
  "scheduleEventRecap INVALID_ARGUMENT": "Choose a time from five minutes from now up to 30 days ahead.",
  UNAUTHENTICATED: "Your session expired. Sign in again.",
  PERMISSION_DENIED: "You don't have permission to do this. If your role just changed, sign out and back in.",
  NOT_FOUND: "This no longer exists.",
  INVALID_ARGUMENT: "Some input isn't valid. Check it and try again.",
  FAILED_PRECONDITION: "This can't be done right now. Reload the page and try again.",
  ABORTED: "Someone else changed this at the same time. Try again.",
  RESOURCE_EXHAUSTED: "Too many requests. Try again later.",
  INTERNAL: "Something went wrong on our side. Try again. If it keeps failing, ask your administrator.",
};

/** Why a recap can't be sent now, by the code that sending would be refused with. */
export function blockedWords(code: string): string {
  if (code === "aborted") return "A recap of this event is already being sent.";
  if (code === "resource-exhausted") return "Too many recaps at the moment. Try again in a few minutes.";
  return "The recap can't be sent now. Ask your administrator to check the email settings.";
}

/** An error in words for people. */
export function wordsOf(error: unknown): string {
  if (error instanceof RefusedError) {
    if (error.possibleFrom) return nextRecapWords(error.possibleFrom);
    if (error.limitedUntil) return `Too many requests. Try again after ${shortTime(error.limitedUntil, new Date())}.`;
    return REFUSALS[`${error.call} ${error.status}`] ?? REFUSALS[error.status] ?? "Something went wrong. Try again.";
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
  return `You can send the next recap after ${longTime(from)}. Recaps are limited to one every 24 hours.`;
}

function noAnswerWords({ lookAt, isTimeout }: NoAnswerError): string {
  const cause = isTimeout ? "The request timed out." : "Can't reach the server.";
  return lookAt
    ? `${cause} We couldn't confirm whether this worked. Check ${lookAt} before trying again.`
    : `${cause} Nothing was changed. Try again.`;
}
