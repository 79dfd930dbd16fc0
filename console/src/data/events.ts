// The events of a tenant.

import {
  type Firestore,
  collection,
  doc,
  documentId,
  getDocs,
  limit,
  onSnapshot,
  orderBy,
  query,
  startAfter,
  where,
} from "firebase/firestore";

import type { Staff } from "./session.ts";
import { text } from "./fields.ts";

export const EVENTS_PAGE = 50;

export interface WallEvent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly tenantId: string;
}

/** A page of the events that somebody may see, by their ids. */
export async function eventsOf(db: Firestore, staff: Staff, after: string | null): Promise<WallEvent[]> {
  const found = await getDocs(
    query(
      collection(db, "events"),
      ...(staff.tenantId === null ? [] : [where("tenantId", "==", staff.tenantId)]),
      orderBy(documentId()),
      ...(after === null ? [] : [startAfter(after)]),
      limit(EVENTS_PAGE),
    ),
  );
  return found.docs.map((one) => read(one.id, one.data()));
}

/** One event, whenever it changes; null where there is none. */
export function watchEvent(
  db: Firestore,
  eventId: string,
  onEvent: (event: WallEvent | null) => void,
  onError: (error: unknown) => void,
): () => void {
  return onSnapshot(
    doc(db, "events", eventId),
    (found) => onEvent(found.exists() ? read(found.id, found.data()) : null),
    onError,
  );
}

function read(id: string, fields: Record<string, unknown>): WallEvent {
  return {
    id,
    name: text(fields["name"]) || id,
    status: text(fields["status"]),
    tenantId: text(fields["tenantId"]),
  };
}
