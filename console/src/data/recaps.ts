// Recaps of an event, and who may send one now.

import {
  Bytes,
  type Firestore,
  collection,
  doc,
  getDoc,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  startAfter,
  where,
} from "firebase/firestore";

import { type Trouble, addressHash, troubles } from "../domain/outcomes.ts";
import { date, number, text } from "./fields.ts";
import { type Fail, type Tell, listenToAll, listenToOne } from "./listen.ts";

export const RECAPS_PAGE = 10;

export interface Recap {
  readonly id: string;
  /** As the organizer gave them; empty where they were not given. */
  readonly subject: string;
  readonly message: string;
  /** Who sent it; empty where the record does not say. */
  readonly sender: string;
  readonly mode: string;
  readonly state: string;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly recipients: number;
  readonly sent: number;
  readonly unknown: number;
  readonly skipped: number;
  readonly left: number;
  /** What the mail service told later; null where it told nothing. */
  readonly told: { readonly delivered: number; readonly bounced: number; readonly dropped: number; readonly complained: number } | null;
}

export interface RecapLock {
  readonly leasedUntil: Date | null;
  readonly cooldownUntil: Date | null;
  readonly isUnfinished: boolean;
}

/** The latest recaps, whenever one moves. */
export function watchRecaps(db: Firestore, eventId: string, most: number, tell: Tell<readonly Recap[]>, fail: Fail): () => void {
  const latest = query(collection(db, "events", eventId, "recaps"), orderBy("startedAt", "desc"), limit(most));
  return listenToAll(latest, (found) => tell(found.docs.map((one) => read(one.id, one.data()))), fail);
}

/** The lock; open where there never was one. */
export function watchLock(db: Firestore, eventId: string, tell: Tell<RecapLock>, fail: Fail): () => void {
  return listenToOne(
    doc(db, "events", eventId, "locks", "recap"),
    (found) =>
      tell({
        leasedUntil: date(found.get("leasedUntil")),
        cooldownUntil: date(found.get("cooldownUntil")),
        isUnfinished: found.get("unfinished") === true,
      }),
    fail,
  );
}

export interface Unreached {
  readonly name: string;
  readonly address: string;
  readonly trouble: Trouble;
}

/**
 * Whom a recap did not reach. The record knows guests by a hash alone, so that their photos have to
 * be read for names and addresses; a guest whose photos are gone stays out.
 */
export async function readUnreached(db: Firestore, eventId: string, recapId: string): Promise<readonly Unreached[]> {
  const record = await getDoc(doc(db, "events", eventId, "recaps", recapId, "outcomes", "mails"));
  const entries: unknown = record.get("entries");
  const open = new Map(entries instanceof Bytes ? troubles(entries.toUint8Array()) : []);
  const found: Unreached[] = [];
  const photos = query(
    collection(db, "events", eventId, "photos"),
    where("status", "==", "approved"),
    orderBy("createdAt", "desc"),
    limit(PHOTOS_A_READ),
  );
  let page = open.size ? await getDocsFromServer(photos) : null;
  while (page?.size && open.size) {
    for (const photo of page.docs) {
      const address = text(photo.get("uploaderEmail"));
      const hash = await addressHash(address);
      const trouble = open.get(hash);
      if (!trouble) continue;
      open.delete(hash);
      found.push({ name: text(photo.get("uploaderName")), address: address.trim(), trouble });
    }
    page = page.size < PHOTOS_A_READ ? null : await getDocsFromServer(query(photos, startAfter(page.docs.at(-1))));
  }
  return found;
}

// The largest page that the rules allow.
const PHOTOS_A_READ = 500;

const TOLD = ["delivered", "bounced", "dropped", "complained"] as const;

function read(id: string, fields: Record<string, unknown>): Recap {
  const [delivered, bounced, dropped, complained] = TOLD.map((name) => number(fields[name])) as [number, number, number, number];
  return {
    id,
    subject: text(fields["subject"]),
    message: text(fields["message"]),
    sender: text(fields["startedByEmail"]),
    mode: text(fields["mode"]),
    state: text(fields["state"]),
    startedAt: date(fields["startedAt"]),
    finishedAt: date(fields["finishedAt"]),
    recipients: number(fields["recipients"]),
    sent: number(fields["sent"]),
    unknown: number(fields["unknown"]),
    skipped: number(fields["skipped"]),
    left: number(fields["left"]),
    told: TOLD.some((name) => name in fields) ? { delivered, bounced, dropped, complained } : null,
  };
}
