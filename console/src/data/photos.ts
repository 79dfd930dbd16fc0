// The photos of an event, read and decided on as the rules allow: by staff of its tenant.

import {
  type Firestore,
  type QueryDocumentSnapshot,
  and,
  collection,
  doc,
  getCountFromServer,
  getDocFromServer,
  getDocsFromServer,
  limit,
  or,
  orderBy,
  query,
  runTransaction,
  serverTimestamp,
  where,
} from "firebase/firestore";

import { type Decision, type Photo, STATUSES, STATUS_WORDS, type Status } from "../domain/photo.ts";
import { COUNTED } from "../domain/words.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { type Person, date, text } from "./fields.ts";
import { type List, type Part, type Watch, watchList } from "./listen.ts";

export const PHOTOS_PAGE = 48;

/**
 * A part of the photos of that status, whenever they change. Waiting photos come oldest first, so
 * that an upload moves none of them; the others newest first.
 */
export function watchPhotos(db: Firestore, eventId: string, status: Status, part: Part): Watch<List<Photo>> {
  const order = orderBy("createdAt", status === "pending" ? "asc" : "desc");
  return watchList(query(photosOf(db, eventId), where("status", "==", status), order), part, read);
}

/** Photos of a guest that are found at once. */
export const GUEST_PHOTOS = 50;

/** Photos of that status whose guest has exactly that address, or a name that begins so. */
export function watchPhotosOf(db: Firestore, eventId: string, status: Status, guest: string, part: Part): Watch<List<Photo>> {
  const ofStatus = where("status", "==", status);
  if (guest.includes("@")) return watchList(query(photosOf(db, eventId), ofStatus, where("uploaderEmail", "in", variants(guest))), part, read);
  const beginsWith = (words: string) => and(where("uploaderName", ">=", words), where("uploaderName", "<", `${words}\uf8ff`));
  return watchList(query(photosOf(db, eventId), and(ofStatus, or(...variants(guest).map(beginsWith))), orderBy("uploaderName")), part, read);
}

// As it was typed, in small letters, and with a capital: Firestore compares letter by letter.
function variants(words: string): string[] {
  const small = words.toLowerCase();
  return [...new Set([words, small, small.charAt(0).toUpperCase() + small.slice(1)])];
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
 * Carries out a decision of that person on the photo that was shown; rejects with a
 * `ChangedMeanwhileError` where another picture has its id by now, or somebody else has decided.
 */
export async function decide(
  db: Firestore,
  eventId: string,
  shown: Photo,
  decision: Decision,
  by: Person,
  reason = "",
): Promise<void> {
  const place = doc(photosOf(db, eventId), shown.id);
  const deciding = runTransaction(db, async (transaction) => {
    const found = await transaction.get(place);
    const now = found.exists() ? read(found) : null;
    if (isDone(decision, shown, now, by.email)) return;
    const changed = meanwhile(shown, now);
    if (changed) throw changed;
    if (decision === "delete") transaction.delete(place);
    else transaction.update(place, fieldsOf(decision, by, reason));
  });
  try {
    await answered(deciding, "the photo");
  } catch (error) {
    if ((error as { code?: string }).code !== "permission-denied") throw error;
    // The rules refuse what was done already: by an attempt whose answer was lost, or by somebody else.
    const now = await answered(readPhoto(db, eventId, shown.id), "the photo");
    if (!isDone(decision, shown, now, by.email)) throw meanwhile(shown, now) ?? error;
  }
}

/** The photo as it stands; null where it does not exist any more. */
export async function readPhoto(db: Firestore, eventId: string, id: string): Promise<Photo | null> {
  const found = await getDocFromServer(doc(photosOf(db, eventId), id));
  return found.exists() ? read(found) : null;
}

// Why a decision on the photo that was shown makes no sense any more; null where it does.
function meanwhile(shown: Photo, now: Photo | null): ChangedMeanwhileError | null {
  if (!now) return new ChangedMeanwhileError("This photo has been deleted meanwhile.");
  const isReplaced = now.url !== shown.url || now.createdAt?.getTime() !== shown.createdAt?.getTime();
  if (isReplaced) return new ChangedMeanwhileError("This photo was replaced by another one meanwhile. Look at it again.");
  return now.status === shown.status ? null : new ChangedMeanwhileError(`${now.decidedBy || "Somebody else"} has decided meanwhile: ${STATUS_WORDS[now.status]}.`);
}

// Whether an attempt whose answer was lost has carried the decision out.
function isDone(decision: Decision, { url }: Photo, now: Photo | null, email: string): boolean {
  if (decision === "delete") return now === null;
  const status = { approve: "approved", reject: "rejected", feature: null, unfeature: null }[decision];
  return status !== null && now?.status === status && now.url === url && now.decidedBy === email;
}

function fieldsOf(decision: Exclude<Decision, "delete">, { uid, email }: Person, reason: string) {
  switch (decision) {
    case "approve":
      return { status: "approved", approvedAt: serverTimestamp(), approvedBy: email, decidedByUid: uid };
    case "reject":
      return { status: "rejected", rejectedAt: serverTimestamp(), rejectedBy: email, decidedByUid: uid, reason: reason || null };
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
    decidedByUid: (decidedBy && text(fields["decidedByUid"])) || null,
    decidedAt: status === "pending" ? null : date(fields[`${status}At`]),
    reason: (status === "rejected" && text(fields["reason"])) || null,
  };
}
