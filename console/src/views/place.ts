// What every view of an event needs, handed down once.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { Calls } from "../data/calls.ts";
import type { Sdk } from "../data/sdk.ts";
import type { Staff } from "../data/session.ts";

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
