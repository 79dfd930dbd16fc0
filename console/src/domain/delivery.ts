// A delivery, as its record has it (docs/data-model.md).

export const OUTCOMES = ["pending", "retrying", "success", "failed", "skipped"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Attempts of one round (spec 8). */
export const ATTEMPTS = 4;

export interface Attempt {
  readonly attempt: number;
  readonly at: Date;
  /** Status of the answer; null if no answer came. */
  readonly status: number | null;
  readonly ms: number;
  /** Why no answer came; null if an answer came. */
  readonly error: string | null;
  /** The start of the body of an answer that is not 2xx, written by the receiver. */
  readonly answer: string | null;
  /** How often the delivery had been sent again before. */
  readonly round: number;
}

export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  /** Id of the endpoint; null if the record names none. */
  readonly endpointId: string | null;
  readonly body: string;
  readonly createdAt: Date;
  readonly outcome: Outcome;
  /** Made in this round. */
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
  readonly log: readonly Attempt[];
  /** Why it was skipped. */
  readonly reason: string | null;
  readonly round: number;
  readonly test: boolean;
  /** Whether the next attempt waits on the queue of slow receivers. */
  readonly slow: boolean;
}

export function isOutcome(value: unknown): value is Outcome {
  return (OUTCOMES as readonly unknown[]).includes(value);
}

/** Whether an attempt is still owed. */
export function isOpen(delivery: Delivery): boolean {
  return delivery.outcome === "pending" || delivery.outcome === "retrying";
}

/** Whether the first attempt is due later than a prompt one would be (design 2). */
export function waitsForItsTurn(delivery: Delivery): boolean {
  if (delivery.outcome !== "pending" || delivery.attempts > 0 || !delivery.nextAttemptAt) return false;
  if (delivery.slow) return true;
  return delivery.round === 0 && delivery.nextAttemptAt.getTime() - delivery.createdAt.getTime() > 1000;
}

/** The last attempt of this round; null before the first. */
export function lastAttempt(delivery: Delivery): Attempt | null {
  const last = delivery.log.at(-1);
  return last && last.round === delivery.round ? last : null;
}

export function isAcknowledged(attempt: Attempt): boolean {
  return attempt.status !== null && attempt.status >= 200 && attempt.status <= 299;
}
