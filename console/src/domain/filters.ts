// The filters of a list of deliveries, in the page's address and as a query.

import { type Outcome, isOutcome } from "./delivery.ts";
import { type EventType, isEventType } from "./event_type.ts";

export const PERIODS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 } as const;
export type Period = keyof typeof PERIODS;

export interface Filters {
  readonly outcome: Outcome | null;
  readonly event: EventType | null;
  /** The last hour, day or week; null if a time is given, or none. */
  readonly period: Period | null;
  readonly from: Date | null;
  readonly until: Date | null;
}

export function isFiltered(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== null);
}

/** Reads the filters in an address, and ignores invalid ones. */
export function readFilters(query: URLSearchParams): Filters {
  const outcome = query.get("outcome");
  const event = query.get("type");
  const period = query.get("period");
  const from = time(query.get("from"));
  const until = time(query.get("until"));
  const isPeriod = period !== null && Object.hasOwn(PERIODS, period);
  return {
    outcome: isOutcome(outcome) ? outcome : null,
    event: isEventType(event) ? event : null,
    period: isPeriod && !from && !until ? (period as Period) : null,
    from,
    until,
  };
}

export const NO_FILTERS = readFilters(new URLSearchParams());

export function writeFilters(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  const { outcome, event, period, from, until } = filters;
  if (outcome) query.set("outcome", outcome);
  if (event) query.set("type", event);
  if (period && !from && !until) query.set("period", period);
  if (from) query.set("from", from.toISOString());
  if (until) query.set("until", until.toISOString());
  return query;
}

function time(text: string | null): Date | null {
  if (!text || !/^\d{4}-\d\d-\d\dT/.test(text)) return null;
  const found = new Date(text);
  return Number.isNaN(found.getTime()) ? null : found;
}

/** Since when a list shows what was created; null if that has no bound. */
export function beginning({ from, period }: Filters, now: Date): Date | null {
  return from ?? (period && new Date(now.getTime() - PERIODS[period]));
}
