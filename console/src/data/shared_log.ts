// The deliveries to one URL, for the holder of a link. They need calls only, and no account.

import { type Attempt, type Delivery, isOutcome } from "../domain/delivery.ts";
import type { Filters } from "../domain/filters.ts";
import { call } from "./call.ts";

export interface SharedPage {
  /** The console's name of the URL: its host and four characters. */
  readonly url: string;
  readonly canResend: boolean;
  readonly expiresAt: Date;
  readonly deliveries: readonly Delivery[];
  /** For the page that follows; null after the last. */
  readonly next: string | null;
}

type Limits = Pick<Filters, "outcome" | "event">;

export async function readSharedLog(token: string, limits: Limits, after: string | null): Promise<SharedPage> {
  const { outcome, event } = limits;
  const answer = await call<Answer>("getWebhookLog", {
    token,
    ...(outcome && { outcome }),
    ...(event && { event }),
    ...(after && { after }),
  });
  return {
    url: answer.url,
    canResend: answer.canResend,
    expiresAt: new Date(answer.expiresAt),
    deliveries: answer.deliveries.map((one) => read(one, answer.url)),
    next: answer.next,
  };
}

export async function resendShared(token: string, deliveryId: string): Promise<void> {
  await call("resendSharedWebhook", { token, deliveryId }, { lookAt: "this delivery's attempts" });
}

interface Answer {
  readonly url: string;
  readonly canResend: boolean;
  readonly expiresAt: string;
  readonly deliveries: readonly OnWire[];
  readonly next: string | null;
}

type Times = "createdAt" | "nextAttemptAt" | "endedAt";

interface OnWire extends Omit<Delivery, Times | "url" | "endpointId" | "slow" | "outcome" | "log"> {
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
  readonly outcome: string;
  readonly log: readonly (Omit<Attempt, "at" | "answer"> & { readonly at: string; readonly answer?: string | null })[];
}

function read(one: OnWire, url: string): Delivery {
  const createdAt = new Date(one.createdAt);
  const { log, endedAt, nextAttemptAt } = one;
  return {
    ...one,
    url,
    endpointId: null,
    slow: false, // not part of a shared log
    createdAt,
    outcome: isOutcome(one.outcome) ? one.outcome : "skipped",
    nextAttemptAt: nextAttemptAt ? new Date(nextAttemptAt) : null,
    endedAt: endedAt ? new Date(endedAt) : null,
    log: log.map(({ at, answer, ...rest }) => ({ ...rest, at: new Date(at), answer: answer ?? null })),
  };
}
