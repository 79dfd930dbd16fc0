// How a URL is doing, from the little that is read for it.

import { type Delivery, lastAttempt } from "./delivery.ts";
import { COUNTED, counted } from "./words.ts";

/** Acknowledged deliveries of a URL that are read for its times. */
export const SAMPLE = 10;
export const DAY_MS = 86_400_000;

export interface Health {
  /** Ended within the last day. */
  readonly delivered: number;
  readonly failed: number;
  /** Failed deliveries that are no tests. */
  readonly missing: number;
  /** Milliseconds of the acknowledged attempts in the sample; null if there is no such attempt. */
  readonly median: number | null;
  readonly slowest: number | null;
  readonly sample: number;
  readonly lastSuccess: Date | null;
  /** Time of the first attempt of the current failures; null if the last delivery succeeded. */
  readonly failingSince: Date | null;
}

/** From the counts of a day, the latest acknowledged deliveries, and the first failure since. */
export function health(
  counts: Pick<Health, "delivered" | "failed" | "missing">,
  successes: readonly Delivery[],
  failingSince: Date | null,
  now: Date,
): Health {
  const since = now.getTime() - DAY_MS;
  const times = successes
    .filter(({ endedAt }) => endedAt && endedAt.getTime() >= since)
    .flatMap((one) => lastAttempt(one)?.ms ?? [])
    .sort((one, other) => one - other);
  return {
    ...counts,
    median: median(times),
    slowest: times.at(-1) ?? null,
    sample: times.length,
    lastSuccess: successes[0]?.endedAt ?? null,
    failingSince,
  };
}

function median(sorted: readonly number[]): number | null {
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/** `498 of 505 delivered`, or `500 or more delivered, 7 failed` if there are more than are counted. */
export function rateOf({ delivered, failed }: Pick<Health, "delivered" | "failed">): string {
  if (delivered < COUNTED && failed < COUNTED) return `${delivered} of ${delivered + failed} delivered`;
  const [taken, refused] = [delivered, failed].map((number) => (number < COUNTED ? `${number}` : `${COUNTED} or more`));
  return `${taken} delivered, ${refused} failed`;
}

/** `10 deliveries failed`. */
export function missingWords(missing: number): string {
  return `${counted(missing)} ${missing === 1 ? "delivery" : "deliveries"} failed`;
}
