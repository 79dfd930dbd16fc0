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
  where,
} from "firebase/firestore";

import { type Decision, type Photo, STATUSES, STATUS_WORDS, type Status } from "../domain/photo.ts";
import { COUNTED } from "../domain/words.ts";
import { type Change, CommitRefusedError, type Value, commit, readAll } from "./commits.ts";
import { ChangedMeanwhileError, NoAnswerError } from "./errors.ts";
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

/** Returns photos of that status whose guest has exactly that address, or a name that begins with it. */
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

/** Counts the photos of that status; `COUNTED` means that many or more. */
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

/** Photos that one commit decides on. The rules read the event once for all of them. */
export const PHOTOS_A_COMMIT = 20;

/** Times that a commit is tried whose photos change between the read and the commit. */
const TRIES = 5;

/** A decision on the photo that was shown. */
export interface Wanted {
  readonly photo: Photo;
  readonly decision: Decision;
  readonly reason: string;
}

/** The outcome of a decision: null if it was carried out, or the reason for its refusal. */
export type Outcomes = ReadonlyMap<string, unknown>;

/**
 * Carries out decisions of that person, with one read and one commit. A photo is refused with a
 * `ChangedMeanwhileError` if another picture has its id or someone else has decided. If the rules refuse the
 * commit, each half is tried separately, until only the refused photo is left. Rejects with a `NoAnswerError`
 * if the outcome is unknown; carrying out the decisions again is then idempotent.
 */
export async function decideAll(db: Firestore, eventId: string, wanted: readonly Wanted[], by: Person, end: AbortSignal, left = TRIES): Promise<Outcomes> {
  const outcomes = new Map<string, unknown>();
  const place = `events/${eventId}/photos`;
  const read = new Map((await readAll(db, place, wanted.map(({ photo }) => photo.id), READ_FIELDS, end)).map((one) => [one.id, one]));
  const changes: (Change & { readonly wanted: Wanted })[] = [];
  for (const one of wanted) {
    const { photo, decision, reason } = one;
    const found = read.get(photo.id);
    const now = found?.fields ? standing(found.fields) : null;
    const changed = meanwhile(photo, now);
    if (isDone(decision, photo, now, by.email)) outcomes.set(photo.id, null);
    else if (changed || !found) outcomes.set(photo.id, changed);
    else changes.push({ wanted: one, read: found, ...changeOf(decision, by, reason) });
  }
  if (changes.length === 0) return outcomes;
  try {
    await commit(db, place, changes, end);
    for (const { read } of changes) outcomes.set(read.id, null);
  } catch (error) {
    if (!(error instanceof CommitRefusedError)) throw error;
    if (left === 0) throw new NoAnswerError("the photo");
    const refused = changes.map((change) => change.wanted);
    const isRefused = error.status === "PERMISSION_DENIED" || error.status === "INVALID_ARGUMENT";
    const [only] = refused;
    if (only && refused.length === 1 && isRefused) {
      // The rules also refuse a decision that was already made: by an attempt whose response was lost, or by someone else.
      const now = await readStanding(db, place, only.photo.id, end);
      outcomes.set(only.photo.id, isDone(only.decision, only.photo, now, by.email) ? null : (meanwhile(only.photo, now) ?? error));
      return outcomes;
    }
    const half = isRefused ? Math.ceil(refused.length / 2) : refused.length;
    for (const part of [refused.slice(0, half), refused.slice(half)]) {
      if (part.length) for (const [id, outcome] of await decideAll(db, eventId, part, by, end, isRefused ? left : left - 1)) outcomes.set(id, outcome);
    }
  }
  return outcomes;
}

const READ_FIELDS = ["status", "url", "createdAt", "approvedBy", "rejectedBy"];

/** The fields of a photo that decide whether a decision on it still makes sense. */
export type Standing = Pick<Photo, "status" | "url" | "createdAt" | "decidedBy">;

function standing(fields: Readonly<Record<string, Value>>): Standing {
  const status = STATUSES.find((one) => one === fields["status"]?.stringValue) ?? "pending";
  const decidedBy = status === "pending" ? null : fields[status === "approved" ? "approvedBy" : "rejectedBy"]?.stringValue;
  const createdAt = fields["createdAt"]?.timestampValue;
  return { status, url: fields["url"]?.stringValue ?? "", createdAt: createdAt ? new Date(createdAt) : null, decidedBy: decidedBy || null };
}

async function readStanding(db: Firestore, place: string, id: string, end: AbortSignal): Promise<Standing | null> {
  const [found] = await readAll(db, place, [id], READ_FIELDS, end);
  return found?.fields ? standing(found.fields) : null;
}

/** The photo in its current state; null if it does not exist. */
export async function readPhoto(db: Firestore, eventId: string, id: string): Promise<Photo | null> {
  const found = await getDocFromServer(doc(photosOf(db, eventId), id));
  return found.exists() ? read(found) : null;
}

// Returns why a decision on the photo that was shown no longer applies; null if it does.
function meanwhile(shown: Photo, now: Standing | null): ChangedMeanwhileError | null {
  if (!now) return new ChangedMeanwhileError("This photo was deleted.");
  const isReplaced = now.url !== shown.url || now.createdAt?.getTime() !== shown.createdAt?.getTime();
  if (isReplaced) return new ChangedMeanwhileError("This photo has changed. Please review it again.");
  return now.status === shown.status ? null : new ChangedMeanwhileError(`Already ${STATUS_WORDS[now.status].toLowerCase()}${now.decidedBy ? ` by ${now.decidedBy}` : ""}.`);
}

/** Whether the decision was carried out, perhaps by an attempt whose answer was lost. */
export function isDone(decision: Decision, { url }: Photo, now: Standing | null, email: string): boolean {
  if (decision === "delete") return now === null;
  const status = { approve: "approved", reject: "rejected", feature: null, unfeature: null }[decision];
  return status !== null && now?.status === status && now.url === url && now.decidedBy === email;
}

function changeOf(decision: Decision, { uid, email }: Person, reason: string): Pick<Change, "fields" | "times"> {
  const decidedByUid = { stringValue: uid };
  switch (decision) {
    case "approve":
      return { fields: { status: { stringValue: "approved" }, approvedBy: { stringValue: email }, decidedByUid }, times: ["approvedAt"] };
    case "reject":
      return {
        fields: { status: { stringValue: "rejected" }, rejectedBy: { stringValue: email }, decidedByUid, reason: reason ? { stringValue: reason } : { nullValue: null } },
        times: ["rejectedAt"],
      };
    case "feature":
    case "unfeature":
      return { fields: { featured: { booleanValue: decision === "feature" } } };
    case "delete":
      return { fields: null };
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
