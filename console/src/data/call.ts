// A call of one of the service's functions, in the callable protocol (docs/openapi.yaml).

import { NoAnswerError, RefusedError } from "./errors.ts";
import { functionsAddress } from "./site.ts";

/** Longer than a function takes that has to be started first. */
export const CALL_MS = 30_000;

export interface CallOptions {
  readonly token?: string;
  /** Where to see whether the action was carried out; null for a call that changes nothing. */
  readonly lookAt?: string | null;
  readonly limitMs?: number;
}

/** The result of the function `name`; rejects with a `RefusedError` or a `NoAnswerError`. */
export async function call<Result>(
  name: string,
  data: object,
  { token, lookAt = null, limitMs = CALL_MS }: CallOptions = {},
): Promise<Result> {
  let answer: Answer<Result>;
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), limitMs);
  try {
    const response = await fetch(`${await functionsAddress()}/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ data }),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: end.signal,
    });
    // A front end that is in trouble answers with a page: no one knows what became of the call.
    answer = (await response.json()) as Answer<Result>;
  } catch {
    throw new NoAnswerError(lookAt, end.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
  if (answer.error) throw refusal(name, answer.error);
  if (answer.result === undefined) throw new NoAnswerError(lookAt);
  return answer.result;
}

interface Answer<Result> {
  readonly result?: Result;
  readonly error?: { readonly status: string; readonly message: string; readonly details?: { readonly possibleFrom?: string; readonly reason?: string } };
}

function refusal(name: string, { status, message, details }: NonNullable<Answer<never>["error"]>): RefusedError {
  const from = details?.possibleFrom ? new Date(details.possibleFrom) : null;
  const isCooldown = details?.reason === "cooldown";
  return new RefusedError(status, message, isCooldown ? from : null, name, isCooldown ? null : from);
}
