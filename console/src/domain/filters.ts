// What a list of deliveries is limited to, as it stands in the page's address, and as a query.

import { type Outcome, isOutcome } from "./delivery.ts";
import { type EventType, isEventType } from "./event_type.ts";

export const PERIODS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 } as const;
export type Period = keyof typeof PERIODS;

export interface Filters {
  readonly outcome: Outcome | null;
  readonly event: EventType | null;
  /** Name of a URL (endpoint.ts), never the URL. */
  readonly endpoint: string | null;
  /** The last hour, day or week; null where a time is given, or none. */
  readonly period: Period | null;
  readonly from: Date | null;
  readonly until: Date | null;
}

export const NO_FILTERS: Filters = {
  outcome: null,
  event: null,
  endpoint: null,
  period: null,
  from: null,
  until: null,
};

export function isFiltered(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== null);
}

/** Reads what an address says; what makes no sense in it counts as not said. */
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
    endpoint: query.get("to") || null,
    period: isPeriod && !from && !until ? (period as Period) : null,
    from,
    until,
  };
}

export function writeFilters(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  const { outcome, event, endpoint, period, from, until } = filters;
  if (outcome) query.set("outcome", outcome);
  if (event) query.set("type", event);
  if (endpoint) query.set("to", endpoint);
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

/** A query of deliveries, newest first: fields that are equal, and when they were created. */
export interface DeliveryQuery {
  readonly equal: Readonly<Partial<Record<"outcome" | "event" | "url", string>>>;
  readonly from: Date | null;
  readonly until: Date | null;
}

/** The query of `filters`, `url` being that of their endpoint. */
export function queryOf(filters: Filters, url: string | null, now: Date): DeliveryQuery {
  const equal: Partial<Record<"outcome" | "event" | "url", string>> = {};
  if (filters.outcome) equal.outcome = filters.outcome;
  if (filters.event) equal.event = filters.event;
  if (url !== null) equal.url = url;
  const period = filters.period && new Date(now.getTime() - PERIODS[filters.period]);
  return { equal, from: filters.from ?? period, until: filters.until };
}

/** Whether a delivery is still one of the query's: what it is asked by may change. */
export function matches(
  query: DeliveryQuery,
  delivery: { outcome: string; event: string; url: string },
): boolean {
  return Object.entries(query.equal).every(
    ([field, value]) => delivery[field as "outcome" | "event" | "url"] === value,
  );
}
