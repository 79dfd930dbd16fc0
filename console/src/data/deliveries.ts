// Deliveries in Firestore, read as the rules allow: by admins and superadmins.

import {
  type DocumentSnapshot,
  type Firestore,
  Timestamp,
  collection,
  doc,
  documentId,
  orderBy,
  query,
  where,
} from "firebase/firestore";

import { type Attempt, type Delivery, isOutcome } from "../domain/delivery.ts";
import { type Filters, beginning } from "../domain/filters.ts";
import { date, number, text } from "./fields.ts";
import { type List, type Part, type Watch, watchList, watchOne } from "./listen.ts";

export const DELIVERIES_PAGE = 25;

interface Wanted {
  readonly eventId: string;
  /** Null for all. */
  readonly endpointId: string | null;
  readonly filters: Filters;
  /** Where a period ends. */
  readonly now: Date;
}

/** A part of the deliveries that fit, the newest first, whenever they change. */
export function watchDeliveries(db: Firestore, { eventId, endpointId, filters, now }: Wanted, part: Part): Watch<List<Delivery>> {
  const from = beginning(filters, now);
  const fitting = query(
    collection(db, "events", eventId, "deliveries"),
    ...(endpointId ? [where("endpoint", "==", endpointId)] : []),
    ...(filters.outcome ? [where("outcome", "==", filters.outcome)] : []),
    ...(filters.event ? [where("event", "==", filters.event)] : []),
    ...(from ? [where("createdAt", ">=", from)] : []),
    ...(filters.until ? [where("createdAt", "<", filters.until)] : []),
    orderBy("createdAt", "desc"),
    orderBy(documentId(), "desc"),
  );
  return watchList(fitting, part, read);
}

/** Reports a delivery at each change; null if it does not exist. */
export function watchDelivery(db: Firestore, eventId: string, id: string): Watch<Delivery | null> {
  return watchOne(doc(db, "events", eventId, "deliveries", id), read);
}

/** Reads a record, with a default for each missing field. */
export function read(found: DocumentSnapshot): Delivery {
  const fields = found.data() ?? {};
  const created = fields["createdAt"] instanceof Timestamp ? fields["createdAt"] : new Timestamp(0, 0);
  const outcome: unknown = fields["outcome"];
  const log: unknown = fields["log"];
  return {
    id: found.id,
    event: text(fields["event"]),
    url: text(fields["url"]),
    endpointId: text(fields["endpoint"]) || null,
    body: text(fields["body"]),
    createdAt: created.toDate(),
    outcome: isOutcome(outcome) ? outcome : "skipped",
    attempts: number(fields["attempts"]),
    nextAttemptAt: date(fields["nextAttemptAt"]),
    endedAt: date(fields["endedAt"]),
    log: Array.isArray(log) ? log.map(readAttempt) : [],
    reason: text(fields["reason"]) || null,
    round: number(fields["round"]),
    test: fields["test"] === true,
    slow: fields["slow"] === true,
  };
}

function readAttempt(fields: Record<string, unknown>): Attempt {
  return {
    attempt: number(fields["attempt"]),
    at: date(fields["at"]) ?? new Date(0),
    status: typeof fields["status"] === "number" ? fields["status"] : null,
    ms: number(fields["ms"]),
    error: text(fields["error"]) || null,
    answer: text(fields["answer"]) || null,
    round: number(fields["round"]),
  };
}
