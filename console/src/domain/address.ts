// Where the reader is: the fragment of the page's address, which no server ever sees.

import { type Filters, NO_FILTERS, readFilters, writeFilters } from "./filters.ts";

export const VIEWS = ["deliveries", "endpoints", "recaps", "sharing", "secret", "signature"] as const;
export type View = (typeof VIEWS)[number];

export type Route =
  | { readonly at: "events" }
  | { readonly at: View; readonly eventId: string; readonly filters: Filters; readonly deliveryId: string | null };

const START = { at: "events" } as const;

export function readRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s, 2);
  const [, place, event, view = "deliveries", delivery, ...rest] = path.split("/").map(decoded);
  if (place !== "events" || !event || rest.length) return START;
  if (!(VIEWS as readonly string[]).includes(view)) return START;
  const at = view as View;
  return {
    at,
    eventId: event,
    filters: at === "deliveries" ? readFilters(new URLSearchParams(query)) : NO_FILTERS,
    deliveryId: (at === "deliveries" && delivery) || null,
  };
}

export function writeRoute(route: Route): string {
  if (route.at === "events") return "#/events";
  const path = ["", "events", route.eventId, route.at, ...(route.deliveryId ? [route.deliveryId] : [])];
  const query = writeFilters(route.filters).toString();
  return `#${path.map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

/** The address of a view of an event, without filters. */
export function linkTo(at: View, eventId: string): string {
  return writeRoute({ at, eventId, filters: NO_FILTERS, deliveryId: null });
}

/** The address of a delivery; the way back leads to the list with these filters. */
export function linkToDelivery(eventId: string, deliveryId: string, filters = NO_FILTERS): string {
  return writeRoute({ at: "deliveries", eventId, filters, deliveryId });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
