// The events of a tenant.

import {
  type DocumentData,
  type Firestore,
  type QueryDocumentSnapshot,
  type UpdateData,
  collection,
  doc,
  documentId,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  serverTimestamp,
  setDoc,
  startAt,
  updateDoc,
  where,
  writeBatch,
} from "firebase/firestore";

import { ENGLISH, type EventStatus, STATUSES } from "../domain/event.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { date, number, text } from "./fields.ts";
import { type List, type Part, type Watch, watchList, watchOne } from "./listen.ts";

export const EVENTS_PAGE = 50;

/** The fields of an event that an admin writes. */
export interface EventFields {
  readonly name: string;
  /** Whether guests' photos show without anybody having looked at them. */
  readonly autoApprove: boolean;
  /** Address of the page that shows the photos; may be empty. */
  readonly galleryUrl: string;
  /** Address of the page where guests upload; may be empty. */
  readonly uploadUrl: string;
  /** Of the mails to guests. */
  readonly language: string;
  /** Where guests' answers go; empty: to the operator of the service. */
  readonly replyTo: string;
  /** Days after archiving until names and addresses of guests are removed; null: they stay. */
  readonly keepGuestDataDays: number | null;
  /** Address of the picture above the heading of mails to guests; may be empty. */
  readonly logoUrl: string;
  /** `#rrggbb`, of the button and links in these mails; may be empty. */
  readonly accentColor: string;
}

export interface WallEvent extends EventFields {
  readonly id: string;
  readonly status: EventStatus;
  readonly tenantId: string;
  readonly publishedAt: Date | null;
  readonly archivedAt: Date | null;
}

/** A part of the events of a tenant by their ids, whenever they change; of all tenants where null. */
export function watchEvents(db: Firestore, tenantId: string | null, part: Part): Watch<List<WallEvent>> {
  const own = tenantId === null ? [] : [where("tenantId", "==", tenantId)];
  return watchList(query(collection(db, "events"), ...own, orderBy(documentId())), part, read);
}

/** Reports an event at each change; null if it does not exist. */
export function watchEvent(db: Firestore, eventId: string): Watch<WallEvent | null> {
  return watchOne(doc(db, "events", eventId), read);
}

/** Makes a draft under an id that is free. */
export async function createEvent(db: Firestore, tenantId: string, id: string, fields: EventFields): Promise<void> {
  // The rules refuse to get a missing event, but allow listing the next event of the tenant.
  const own = where("tenantId", "==", tenantId);
  const next = query(collection(db, "events"), own, orderBy(documentId()), startAt(id), limit(1));
  const found = await answered(getDocsFromServer(next), "the list of events");
  if (found.docs[0]?.id === id) throw new ChangedMeanwhileError("There is an event with this id already; choose another.");
  try {
    await answered(setDoc(doc(db, "events", id), { tenantId, status: "draft", ...onRecord(fields) }), "the list of events");
  } catch (error) {
    if ((error as { code?: string }).code !== "permission-denied") throw error;
    throw new ChangedMeanwhileError("This id is not free: another event has it, or had it until now; choose another.");
  }
}

export function changeEvent(db: Firestore, id: string, fields: EventFields): Promise<void> {
  return update(db, id, onRecord(fields));
}

/** Opens the event for guests, for the first time or again. */
export function publishEvent(db: Firestore, id: string): Promise<void> {
  return update(db, id, { status: "published", publishedAt: serverTimestamp(), archivedAt: null });
}

/** Ends the uploads. */
export function archiveEvent(db: Firestore, id: string): Promise<void> {
  return update(db, id, { status: "archived", archivedAt: serverTimestamp() });
}

function update(db: Firestore, id: string, fields: UpdateData<DocumentData>): Promise<void> {
  return answered(updateDoc(doc(db, "events", id), fields), "the overview");
}

/** Deletes the event; the service deletes what belongs to it, and the tombstone keeps its id. */
export async function deleteEvent(db: Firestore, id: string): Promise<void> {
  const batch = writeBatch(db);
  batch.set(doc(db, "deletedEvents", id), { deletedAt: serverTimestamp() });
  batch.delete(doc(db, "events", id));
  await answered(batch.commit(), "the list of events");
}

function onRecord(fields: EventFields) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value === "" ? null : value]));
}

function read(found: QueryDocumentSnapshot): WallEvent {
  const fields = found.data();
  return {
    id: found.id,
    name: text(fields["name"]) || found.id,
    status: STATUSES.find((status) => status === fields["status"]) ?? "draft",
    tenantId: text(fields["tenantId"]),
    autoApprove: fields["autoApprove"] === true,
    galleryUrl: text(fields["galleryUrl"]),
    uploadUrl: text(fields["uploadUrl"]),
    language: text(fields["language"]) || ENGLISH,
    replyTo: text(fields["replyTo"]),
    keepGuestDataDays: number(fields["keepGuestDataDays"]) || null,
    logoUrl: text(fields["logoUrl"]),
    accentColor: text(fields["accentColor"]),
    publishedAt: date(fields["publishedAt"]),
    archivedAt: date(fields["archivedAt"]),
  };
}
