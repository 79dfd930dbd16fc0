// Deliveries for tests.

import type { Attempt, Delivery } from "../src/domain/delivery.ts";

export const NOW = new Date("2026-05-01T18:30:00.123Z");

export function delivery(change: Partial<Delivery> & { number?: number } = {}): Delivery {
  const { number = 1, ...fields } = change;
  const id = fields.id ?? `d${String(number).padStart(3, "0")}`;
  return {
    id,
    event: "photo.uploaded",
    url: "https://example.com/hook",
    endpointId: null,
    body: `{"deliveryId":"${id}"}`,
    createdAt: NOW,
    outcome: "success",
    attempts: 1,
    nextAttemptAt: null,
    endedAt: NOW,
    log: [],
    reason: null,
    round: 0,
    test: false,
    slow: false,
    ...fields,
  };
}

export function attempt(number: number, change: Partial<Attempt> = {}): Attempt {
  return { attempt: number, at: NOW, status: 200, ms: 10, error: null, answer: null, round: 0, ...change };
}
