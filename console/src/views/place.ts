// Shared state of the views of an event.

import type { Auth } from "firebase/auth";
import type { Firestore } from "firebase/firestore";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import type { Calls } from "../data/calls.ts";
import type { Decisions } from "../data/decisions.ts";
import { type Settings, watchSettings } from "../data/endpoints.ts";
import { countPhotos } from "../data/photos.ts";
import type { Staff } from "../data/session.ts";
import type { Photo } from "../domain/photo.ts";
import { counted } from "../domain/words.ts";
import { type Live, type LiveList, useAsked, useLive } from "../ui/live.tsx";

/** Firebase, as the views use it. */
export interface Sdk {
  readonly auth: Auth;
  readonly db: Firestore;
}

export interface Place {
  readonly sdk: Sdk;
  readonly staff: Staff;
  readonly eventId: string;
  readonly eventName: string;
  readonly calls: Calls;
  readonly decisions: Decisions;
  /** The photos that wait, the oldest first. */
  readonly waiting: LiveList<Photo>;
  /** How many photos wait: `372`, or `500+`; empty if none does or if it is not known. */
  readonly waitingWords: string;
}

/** A list that goes on reports nothing of the photos behind it, so they are counted again after this time. */
const RECOUNT_MS = 20_000;

/** Returns how many photos await approval: the length of the list, or a count if the list goes on. */
export function useWaitingWords(db: Firestore, eventId: string, { value, isFromBeginning, news }: LiveList<Photo>): string {
  const { items, hasMore } = value ?? { items: [], hasMore: false };
  const isLong = hasMore || !isFromBeginning;
  const [recounts, setRecounts] = useState(0);
  useEffect(() => {
    if (!isLong) return undefined;
    // A hidden tab counts nothing.
    const timer = setInterval(() => document.hidden || setRecounts((times) => times + 1), RECOUNT_MS);
    return () => clearInterval(timer);
  }, [isLong]);
  const number = useAsked(async () => (isLong ? countPhotos(db, eventId, "pending") : 0), [db, eventId, isLong], `${news} ${recounts}`).value;
  if (!isLong) return items.length ? String(items.length) : "";
  return number ? counted(number) : "";
}

export const PlaceContext = createContext<Place | null>(null);

export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === null) throw new Error("outside of an event");
  return place;
}

/** The receivers of the event, live. */
export function useSettings(): Live<Settings> {
  const { sdk, eventId } = usePlace();
  return useLive(() => watchSettings(sdk.db, eventId), [sdk, eventId]);
}
