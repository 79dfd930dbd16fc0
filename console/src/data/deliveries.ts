// Deliveries in Firestore, read as the rules allow: by admins and superadmins.

import {
  type DocumentSnapshot,
  type Firestore,
  type QueryConstraint,
  Timestamp,
  collection,
  doc,
  documentId,
  getCountFromServer,
  getDocsFromServer,
  limit,
  onSnapshot,
  orderBy,
  query,
  startAfter,
  where,
} from "firebase/firestore";

import { type Attempt, type Delivery, isOutcome } from "../domain/delivery.ts";
import type { FeedSource } from "../domain/feed.ts";
import { type DeliveryQuery, matches } from "../domain/filters.ts";
import { date, number, text } from "./fields.ts";
import { listenToOne } from "./listen.ts";

/** The deliveries of an event that are `wanted`, newest first. */
export function deliveries(db: Firestore, eventId: string, wanted: DeliveryQuery): FeedSource {
  const all = collection(db, "events", eventId, "deliveries");
  const conditions: QueryConstraint[] = Object.entries(wanted.equal).map(([field, value]) =>
    where(field, "==", value),
  );
  if (wanted.from) conditions.push(where("createdAt", ">=", wanted.from));
  if (wanted.until) conditions.push(where("createdAt", "<", wanted.until));
  const ordered = query(
    all,
    ...conditions,
    orderBy("createdAt", "desc"),
    orderBy(documentId(), "desc"),
  );
  return {
    head: (size, onHead, onError) => {
      // What has not changed stays the same object, so that its row is not drawn again.
      const known = new Map<string, Delivery>();
      return onSnapshot(
        query(ordered, limit(size)),
        { includeMetadataChanges: true },
        (found) => {
          for (const { type, doc: one } of found.docChanges()) {
            if (type === "removed") known.delete(one.id);
            else known.set(one.id, read(one));
          }
          const shown = found.docs.map((one) => known.get(one.id) ?? read(one));
          onHead({ deliveries: shown, isStale: found.metadata.fromCache });
        },
        onError,
      );
    },
    page: async (after, size) => {
      const { seconds, nanoseconds, id } = after.place;
      const place = startAfter(new Timestamp(seconds, nanoseconds), id);
      const found = await getDocsFromServer(query(ordered, place, limit(size)));
      return found.docs.map(read);
    },
    one: (id, onDelivery) => onSnapshot(doc(all, id), (found) => onDelivery(orNull(found))),
    matches: (delivery) => matches(wanted, delivery),
  };
}

/**
 * Resolves once the server has answered anything; rejects where it does not. A count is a request of
 * its own: a query that has a listener would be answered without the server.
 */
export async function hearFrom(db: Firestore, eventId: string): Promise<void> {
  await getCountFromServer(query(collection(db, "events", eventId, "deliveries"), limit(1)));
}

/** Reports a delivery at each change; null if it does not exist. */
export function watchDelivery(
  db: Firestore,
  eventId: string,
  id: string,
  onDelivery: (delivery: Delivery | null) => void,
  onError: (error: unknown) => void,
): () => void {
  const one = doc(db, "events", eventId, "deliveries", id);
  return listenToOne(one, (found) => onDelivery(orNull(found)), onError);
}

function orNull(found: DocumentSnapshot): Delivery | null {
  return found.exists() ? read(found) : null;
}

/** A record; a default stands for each missing field. */
export function read(found: DocumentSnapshot): Delivery {
  const fields = found.data() ?? {};
  const created = fields["createdAt"] instanceof Timestamp ? fields["createdAt"] : new Timestamp(0, 0);
  const outcome: unknown = fields["outcome"];
  const log: unknown = fields["log"];
  return {
    id: found.id,
    place: { seconds: created.seconds, nanoseconds: created.nanoseconds, id: found.id },
    event: text(fields["event"]),
    url: text(fields["url"]),
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
