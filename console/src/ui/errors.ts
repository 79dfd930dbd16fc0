// What went wrong, for whoever reads it and what they can do.

import { RefusedError } from "../data/shared_log.ts";

const WORDS: Readonly<Record<string, string>> = {
  "permission-denied": "Your account may not see or do this. If that is new, sign out and in again: rights change with the next sign-in.",
  unavailable: "The service cannot be reached. Are you offline?",
  unauthenticated: "You are signed out. Sign in again.",
  "deadline-exceeded": "It took too long. Try again.",
  internal: "Something went wrong on our side. Nothing is lost by trying again.",
  "not-found": "This is not there (any more).",
  "failed-precondition": "This cannot be done as things stand.",
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
  "auth/unauthorized-continue-uri": "Mails may not lead to this site yet. Whoever runs the service has to add it to the authorized domains.",
  "auth/network-request-failed": "The sign-in service cannot be reached. Are you offline?",
};

/** An error's text: the service's own words where it has some. */
export function wordsOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  const { code = "", message = "" } = (error ?? {}) as { code?: string; message?: string };
  const isCall = code.startsWith("functions/");
  const name = code.replace(/^(functions|firestore)\//, "");
  // The SDK's own message for a call that never arrived is the code again.
  const isOwn = isCall && message && message.toLowerCase() !== name && !/^(internal|unavailable)$/i.test(message);
  if (isOwn) return message;
  return WORDS[name] ?? "Something went wrong. Try again.";
}
