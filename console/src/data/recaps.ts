// Recaps of an event, and who may send one now.

import { type Firestore, type QueryDocumentSnapshot, collection, doc, orderBy, query } from "firebase/firestore";

import type { RecapCounts } from "../domain/recap.ts";
import { type RecapTexts, recapTexts } from "../domain/recap_text.ts";
import type { Draft } from "./draft.ts";
import { date, number, text } from "./fields.ts";
import { type List, type Part, type Watch, watchList, watchOne } from "./listen.ts";

export const RECAPS_PAGE = 10;

export interface Recap extends RecapCounts, RecapTexts {
  readonly id: string;
  /** The sender; empty if unknown. */
  readonly sender: string;
  readonly senderUid: string;
  readonly mode: string;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly recipients: number;
  readonly unknown: number;
  readonly skipped: number;
}

export interface RecapLock {
  readonly leasedUntil: Date | null;
  readonly cooldownUntil: Date | null;
  readonly isUnfinished: boolean;
}

/** A part of the recaps, the latest first, whenever one moves. */
export function watchRecaps(db: Firestore, eventId: string, part: Part): Watch<List<Recap>> {
  return watchList(query(collection(db, "events", eventId, "recaps"), orderBy("startedAt", "desc")), part, read);
}

/** The lock; null if there never was one. */
export function watchLock(db: Firestore, eventId: string): Watch<RecapLock | null> {
  return watchOne(doc(db, "events", eventId, "locks", "recap"), (found) => ({
    leasedUntil: date(found.get("leasedUntil")),
    cooldownUntil: date(found.get("cooldownUntil")),
    isUnfinished: found.get("unfinished") === true,
  }));
}

/** The scheduled recap, or the last one. */
export interface Scheduled {
  readonly at: Date;
  readonly state: string;
  /** The organizer who scheduled it. */
  readonly by: string;
  /** The text that will be sent. */
  readonly draft: Draft;
}

/** Watches the scheduled recap; null if none was ever scheduled. */
export function watchScheduled(db: Firestore, eventId: string): Watch<Scheduled | null> {
  return watchOne(doc(db, "events", eventId, "schedules", "recap"), (found) => ({
    at: date(found.get("at")) ?? new Date(0),
    state: text(found.get("state")),
    by: text(found.get("by.email")) || text(found.get("by.uid")),
    draft: {
      mode: found.get("mode") === "all" ? "all" : "personal",
      ...recapTexts((name) => text(found.get(name))),
      onlyNew: found.get("onlyNew") === true,
    },
  }));
}

const TOLD = ["delivered", "bounced", "dropped", "complained"] as const;

function read(found: QueryDocumentSnapshot): Recap {
  const fields = found.data();
  const [delivered, bounced, dropped, complained] = TOLD.map((name) => number(fields[name])) as [number, number, number, number];
  return {
    id: found.id,
    ...recapTexts((name) => text(fields[name])),
    sender: text(fields["startedByEmail"]),
    senderUid: text(fields["startedBy"]),
    mode: text(fields["mode"]),
    state: text(fields["state"]),
    startedAt: date(fields["startedAt"]),
    finishedAt: date(fields["finishedAt"]),
    recipients: number(fields["recipients"]),
    sent: number(fields["sent"]),
    unknown: number(fields["unknown"]),
    skipped: number(fields["skipped"]),
    left: number(fields["left"]),
    byMailServer: fields["mailServer"] === true,
    told: TOLD.some((name) => name in fields) ? { delivered, bounced, dropped, complained } : null,
  };
}
