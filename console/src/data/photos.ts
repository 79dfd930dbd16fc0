// The photos of an event, read and decided on as the rules allow: by staff of its tenant.

import {
  type Firestore,
  type QueryDocumentSnapshot,
  collection,
  doc,
  getCountFromServer,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  runTransaction,
  serverTimestamp,
  where,
} from "firebase/firestore";

import { type Decision, type Photo, STATUSES, type Status } from "../domain/photo.ts";
import { COUNTED } from "../domain/words.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { date, text } from "./fields.ts";
import { type List, type Watch, watchList } from "./listen.ts";

export const PHOTOS_PAGE = 48;

/**
 * The first `most` photos of that status, whenever they change. Waiting photos come oldest first, so
 * that an upload moves none of them; the others newest first.
 */
export function watchPhotos(db: Firestore, eventId: string, status: Status, most: number): Watch<List<Photo>> {
  const order = orderBy("createdAt", status === "pending" ? "asc" : "desc");
  return watchList(query(photosOf(db, eventId), where("status", "==", status), order), most, read);
}

/** How many photos have that status; `COUNTED` stands for as many or more. */
export async function countPhotos(db: Firestore, eventId: string, status: Status): Promise<number> {
  const counted = query(photosOf(db, eventId), where("status", "==", status), limit(COUNTED));
  return (await getCountFromServer(counted)).data().count;
}

export interface Guest {
  readonly email: string;
  readonly name: string;
}

const GUESTS_LOOKED_FOR = 100;

/** Guests of the latest approved photos, by their names: some to choose from, not all. */
export async function guestsOf(db: Firestore, eventId: string): Promise<readonly Guest[]> {
  const latest = query(
    photosOf(db, eventId),
    where("status", "==", "approved"),
    orderBy("createdAt", "desc"),
    limit(GUESTS_LOOKED_FOR),
  );
  const guests = new Map<string, Guest>();
  for (const found of (await getDocsFromServer(latest)).docs) {
    const email = text(found.get("uploaderEmail")).trim();
    const known = email.toLowerCase();
    if (email && !guests.has(known)) guests.set(known, { email, name: text(found.get("uploaderName")) });
  }
  return [...guests.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/**
 * Carries out a decision of somebody with that address on the photo that was shown; rejects with a
 * `ChangedMeanwhileError` where another picture has its id by now, or somebody else has decided.
 */
export async function decide(
  db: Firestore,
  eventId: string,
  shown: Photo,
  decision: Decision,
  email: string,
  reason = "",
): Promise<void> {
  const place = doc(photosOf(db, eventId), shown.id);
  const deciding = runTransaction(db, async (transaction) => {
    const found = await transaction.get(place);
    const now = found.exists() ? read(found) : null;
    const isReplaced = now && (now.url !== shown.url || now.createdAt?.getTime() !== shown.createdAt?.getTime());
    if (isReplaced) throw new ChangedMeanwhileError("This photo was replaced by another one meanwhile. Look at it again.");
    if (isDone(decision, now, email)) return;
    if (!now) throw new ChangedMeanwhileError("This photo has been deleted meanwhile.");
    if (now.status !== shown.status) throw new ChangedMeanwhileError("Somebody else has decided on this photo meanwhile.");
    if (decision === "delete") transaction.delete(place);
    else transaction.update(place, fieldsOf(decision, email, reason));
  });
  await answered(deciding, "the photo");
}

// Whether an attempt whose answer was lost has carried the decision out.
function isDone(decision: Decision, now: Photo | null, email: string): boolean {
  if (decision === "delete") return now === null;
  const status = { approve: "approved", reject: "rejected", feature: null, unfeature: null }[decision];
  return status !== null && now?.status === status && now.decidedBy === email;
}

function fieldsOf(decision: Exclude<Decision, "delete">, email: string, reason: string) {
  switch (decision) {
    case "approve":
      return { status: "approved", approvedAt: serverTimestamp(), approvedBy: email };
    case "reject":
      return { status: "rejected", rejectedAt: serverTimestamp(), rejectedBy: email, reason: reason || null };
    case "feature":
    case "unfeature":
      return { featured: decision === "feature" };
  }
}

function photosOf(db: Firestore, eventId: string) {
  return collection(db, "events", eventId, "photos");
}

function read(found: QueryDocumentSnapshot): Photo {
  const fields = found.data({ serverTimestamps: "estimate" });
  const status = STATUSES.find((one) => one === fields["status"]) ?? "pending";
  const decidedBy = { pending: "", approved: text(fields["approvedBy"]), rejected: text(fields["rejectedBy"]) }[status];
  return {
    id: found.id,
    status,
    url: text(fields["url"]),
    thumbUrl: text(fields["thumbUrl"]) || null,
    featured: fields["featured"] === true,
    uploaderName: text(fields["uploaderName"]),
    uploaderEmail: text(fields["uploaderEmail"]) || null,
    createdAt: date(fields["createdAt"]),
    decidedBy: decidedBy || null,
    reason: (status === "rejected" && text(fields["reason"])) || null,
  };
}
