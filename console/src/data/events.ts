// The events of a tenant.

import {
  type Firestore,
  collection,
  doc,
  documentId,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  serverTimestamp,
  setDoc,
  startAfter,
  startAt,
  updateDoc,
  where,
} from "firebase/firestore";

import { ENGLISH, type EventStatus, STATUSES } from "../domain/event.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { date, text } from "./fields.ts";
import { listenToOne } from "./listen.ts";
import type { Staff } from "./session.ts";

export const EVENTS_PAGE = 50;

/** What an admin says of an event. */
export interface EventFields {
  readonly name: string;
  /** Whether guests' photos show without anybody having looked at them. */
  readonly autoApprove: boolean;
  /** Address of the page that shows the photos; may be empty. */
  readonly galleryUrl: string;
  /** Of the mails to guests. */
  readonly language: string;
  /** Where guests' answers go; empty: to the operator of the service. */
  readonly replyTo: string;
}

export interface WallEvent extends EventFields {
  readonly id: string;
  readonly status: EventStatus;
  readonly tenantId: string;
  readonly publishedAt: Date | null;
  readonly archivedAt: Date | null;
}

/** A page of the events that somebody may see, by their ids. */
export async function eventsOf(db: Firestore, staff: Staff, after: string | null): Promise<WallEvent[]> {
  const found = await getDocsFromServer(
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

/** Reports an event at each change; null if it does not exist. */
export function watchEvent(
  db: Firestore,
  eventId: string,
  onEvent: (event: WallEvent | null) => void,
  onError: (error: unknown) => void,
): () => void {
  return listenToOne(
    doc(db, "events", eventId),
    (found) => onEvent(found.exists() ? read(found.id, found.data()) : null),
    onError,
  );
}

/** Makes a draft under an id that is free. */
export async function createEvent(db: Firestore, tenantId: string, id: string, fields: EventFields): Promise<void> {
  await answered(made(), "the list of events");

  async function made(): Promise<void> {
    // The rules let nobody get an event that is not there, but list the next one of their own.
    const own = where("tenantId", "==", tenantId);
    const next = query(collection(db, "events"), own, orderBy(documentId()), startAt(id), limit(1));
    if ((await getDocsFromServer(next)).docs[0]?.id === id) throw new ChangedMeanwhileError("There is an event with this id already; choose another.");
    try {
      await setDoc(doc(db, "events", id), { tenantId, status: "draft", ...onRecord(fields) });
    } catch (error) {
      if ((error as { code?: string }).code !== "permission-denied") throw error;
      throw new ChangedMeanwhileError("This id is not free: another event has it, or had it until now; choose another.");
    }
  }
}

export async function changeEvent(db: Firestore, id: string, fields: EventFields): Promise<void> {
  await answered(updateDoc(doc(db, "events", id), onRecord(fields)), "the overview");
}

/** Opens the event for guests, for the first time or again. */
export async function publishEvent(db: Firestore, id: string): Promise<void> {
  const published = { status: "published", publishedAt: serverTimestamp(), archivedAt: null };
  await answered(updateDoc(doc(db, "events", id), published), "the overview");
}

/** Ends the uploads. */
export async function archiveEvent(db: Firestore, id: string): Promise<void> {
  const archived = { status: "archived", archivedAt: serverTimestamp() };
  await answered(updateDoc(doc(db, "events", id), archived), "the overview");
}

function onRecord({ galleryUrl, replyTo, ...fields }: EventFields) {
  return { ...fields, galleryUrl: galleryUrl || null, replyTo: replyTo || null };
}

function read(id: string, fields: Record<string, unknown>): WallEvent {
  return {
    id,
    name: text(fields["name"]) || id,
    status: STATUSES.find((status) => status === fields["status"]) ?? "draft",
    tenantId: text(fields["tenantId"]),
    autoApprove: fields["autoApprove"] === true,
    galleryUrl: text(fields["galleryUrl"]),
    language: text(fields["language"]) || ENGLISH,
    replyTo: text(fields["replyTo"]),
    publishedAt: date(fields["publishedAt"]),
    archivedAt: date(fields["archivedAt"]),
  };
}
