// Outcomes of a call or a write other than success.

/** A refusal by the service. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(
    /** As in the callable protocol: `NOT_FOUND`. */
    readonly status: string,
    message: string,
    /** When the next recap becomes possible, if that is the reason. */
    readonly possibleFrom: Date | null = null,
    /** The function that refused the call. */
    readonly call = "",
    /** When a rate limit ends, if that is the reason. */
    readonly limitedUntil: Date | null = null,
  ) {
    super(message);
  }
}

/** No answer came: the network or the service is away, or the answer took too long. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";

  constructor(
    /** Where to see whether the action was carried out; null if nothing can have changed. */
    readonly lookAt: string | null,
    readonly isTimeout = false,
  ) {
    super("no answer");
  }
}

/** Someone else has changed the same thing in the meantime, so the change no longer applies. */
export class ChangedMeanwhileError extends Error {
  override readonly name = "ChangedMeanwhileError";
}

/** Maximum milliseconds to wait for a write. */
const PATIENCE_MS = 15_000;

/** The result of `work`; rejects with a `NoAnswerError` if it does not end in time. */
export async function answered<Result>(work: Promise<Result>, lookAt: string): Promise<Result> {
  let timer = 0;
  const end = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new NoAnswerError(lookAt, true)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
