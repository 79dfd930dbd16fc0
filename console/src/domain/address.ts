// Where the reader is: the fragment of the page's address, which no server ever sees.

import { STATUSES, type Status } from "./photo.ts";
import { nameOf } from "./endpoint.ts";
import { type Filters, NO_FILTERS, readFilters, writeFilters } from "./filters.ts";

export const VIEWS = [
  ...["overview", "photos", "recaps"] as const,
  ...["deliveries", "endpoints", "sharing", "signature", "secret"] as const,
] as const;
export type View = (typeof VIEWS)[number];

export type Route =
  | { readonly at: "events" }
  | {
      readonly at: View;
      readonly eventId: string;
      readonly filters: Filters;
      readonly deliveryId: string | null;
      /** Which photos are looked at. */
      readonly status: Status;
    };

const START = { at: "events" } as const;

export function readRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s, 2);
  const [, place, event, view = "overview", item, ...rest] = path.split("/").map(decoded);
  if (place !== "events" || !event || rest.length) return START;
  if (!(VIEWS as readonly string[]).includes(view)) return START;
  const at = view as View;
  return {
    at,
    eventId: event,
    filters: at === "deliveries" || at === "sharing" ? readFilters(new URLSearchParams(query)) : NO_FILTERS,
    deliveryId: (at === "deliveries" && item) || null,
    status: (at === "photos" && STATUSES.find((status) => status === item)) || "pending",
  };
}

export function writeRoute(route: Route): string {
  if (route.at === "events") return "#/events";
  const item = route.at === "photos" ? route.status : route.deliveryId;
  const path = ["", "events", route.eventId, route.at, ...(item ? [item] : [])];
  const query = writeFilters(route.filters).toString();
  return `#${path.map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

/** The address of a view of an event, without filters. */
export function linkTo(at: View, eventId: string): string {
  return writeRoute({ at, eventId, filters: NO_FILTERS, deliveryId: null, status: "pending" });
}

/** The address at which a link to the deliveries of `url` is made. */
export function linkToSharing(eventId: string, url: string): string {
  const filters = { ...NO_FILTERS, endpoint: nameOf(url) };
  return writeRoute({ at: "sharing", eventId, filters, deliveryId: null, status: "pending" });
}

/** The address of the photos of that status. */
export function linkToPhotos(eventId: string, status: Status): string {
  return writeRoute({ at: "photos", eventId, filters: NO_FILTERS, deliveryId: null, status });
}

/** The address of a delivery; the way back leads to the list with these filters. */
export function linkToDelivery(eventId: string, deliveryId: string, filters = NO_FILTERS): string {
  return writeRoute({ at: "deliveries", eventId, filters, deliveryId, status: "pending" });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
