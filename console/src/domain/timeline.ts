// The attempts of a delivery with the waits between them, round by round.

import { type Attempt, type Delivery, isAcknowledged } from "./delivery.ts";

export interface Step {
  readonly attempt: Attempt;
  readonly isAcknowledged: boolean;
  /** From the end of the attempt before, in milliseconds; null for the first of a round. */
  readonly waited: number | null;
}

export interface Round {
  /** 0 for the first; then how often it had been sent again. */
  readonly number: number;
  readonly steps: readonly Step[];
}

export function timeline({ log }: Pick<Delivery, "log">): readonly Round[] {
  const rounds = new Map<number, Step[]>();
  const ordered = [...log].sort((one, other) => one.round - other.round || one.attempt - other.attempt);
  for (const attempt of ordered) {
    const steps = rounds.get(attempt.round) ?? [];
    const before = steps.at(-1)?.attempt;
    const waited = before ? attempt.at.getTime() - before.at.getTime() - before.ms : null;
    steps.push({ attempt, isAcknowledged: isAcknowledged(attempt), waited });
    rounds.set(attempt.round, steps);
  }
  return [...rounds].map(([number, steps]) => ({ number, steps }));
}
