// The photos of an event, read and decided on as the rules allow: by staff of its tenant.

import {
  type Firestore,
  type QueryDocumentSnapshot,
  collection,
  deleteDoc,
  doc,
  getCountFromServer,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  serverTimestamp,
  startAfter,
  updateDoc,
  where,
} from "firebase/firestore";

import { type Decision, type Photo, STATUSES, type Status } from "../domain/photo.ts";
import { answered } from "./errors.ts";
import { date, text } from "./fields.ts";
import { listenToAll } from "./listen.ts";

export const PHOTOS_PAGE = 24;
/** Most that the rules let anybody count at once. */
export const COUNTED = 500;

export type PhotoCursor = QueryDocumentSnapshot;

export interface PhotoPage {
  readonly photos: readonly Photo[];
  /** Where the next page begins; null where this is the last. */
  readonly next: PhotoCursor | null;
}

/** One page of the photos of that status, the newest first, whenever it changes. */
export function watchPhotos(
  db: Firestore,
  eventId: string,
  status: Status,
  after: PhotoCursor | null,
  onPage: (page: PhotoPage) => void,
  onError: (error: unknown) => void,
): () => void {
  const page = query(
    photosOf(db, eventId),
    where("status", "==", status),
    orderBy("createdAt", "desc"),
    ...(after ? [startAfter(after)] : []),
    // One more tells whether there is another page.
    limit(PHOTOS_PAGE + 1),
  );
  return listenToAll(
    page,
    ({ docs }) => {
      const shown = docs.slice(0, PHOTOS_PAGE);
      const last = shown.at(-1);
      onPage({ photos: shown.map(read), next: docs.length > PHOTOS_PAGE && last ? last : null });
    },
    onError,
  );
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

/** Carries out a decision of somebody with that address. */
export async function decide(
  db: Firestore,
  eventId: string,
  photoId: string,
  decision: Decision,
  email: string,
  reason = "",
): Promise<void> {
  const photo = doc(photosOf(db, eventId), photoId);
  await answered(written(), "the photo");

  function written(): Promise<void> {
    switch (decision) {
      case "approve":
        return updateDoc(photo, { status: "approved", approvedAt: serverTimestamp(), approvedBy: email });
      case "reject":
        return updateDoc(photo, {
          status: "rejected",
          rejectedAt: serverTimestamp(),
          rejectedBy: email,
          reason: reason || null,
        });
      case "feature":
      case "unfeature":
        return updateDoc(photo, { featured: decision === "feature" });
      case "delete":
        return deleteDoc(photo);
    }
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
