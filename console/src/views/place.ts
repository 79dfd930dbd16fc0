// What every view of an event needs, handed down once.

import type { Auth } from "firebase/auth";
import type { Firestore } from "firebase/firestore";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { Calls } from "../data/calls.ts";
import type { Staff } from "../data/session.ts";

/** Firebase, as the views use it. */
export interface Sdk {
  readonly auth: Auth;
  readonly db: Firestore;
}

export interface Place {
  readonly sdk: Sdk;
  readonly staff: Staff;
  readonly eventId: string;
  readonly calls: Calls;
}

export const PlaceContext = createContext<Place | null>(null);

export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error("outside of an event");
  return place;
}
