// Where the reader is: the fragment of the page's address, which no server ever sees.

import { STATUSES, type Status } from "./photo.ts";
import { type Filters, NO_FILTERS, readFilters, writeFilters } from "./filters.ts";

export type Role = "moderator" | "admin" | "superadmin";

export const ROOMS = { overview: "Overview", photos: "Photos", recap: "Recap", receivers: "Webhooks" } as const;
export type Room = keyof typeof ROOMS;

/** A place in an event. */
export interface Place {
  readonly at: Room;
  readonly eventId: string;
  /** Which photos are looked at. */
  readonly status: Status;
  /** Id of the receiver that is looked at, or whose delivery is; null for all. */
  readonly endpointId: string | null;
  readonly deliveryId: string | null;
  readonly filters: Filters;
}

export type Route = { readonly at: "events" } | Place;

export function readRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s, 2);
  const [, place, eventId, room = "overview", item = "", ...rest] = path.split("/").map(decoded);
  const at = Object.hasOwn(ROOMS, room) ? (room as Room) : room === "deliveries" ? "receivers" : null;
  if (place !== "events" || !eventId || !at || rest.length) return { at: "events" };
  const given = new URLSearchParams(query);
  const isDelivery = room === "deliveries" && item !== "";
  return {
    at,
    eventId,
    status: (at === "photos" && STATUSES.find((status) => status === item)) || "pending",
    endpointId: (room === "receivers" && item) || (isDelivery && given.get("to")) || null,
    deliveryId: isDelivery ? item : null,
    filters: at === "receivers" ? readFilters(given) : NO_FILTERS,
  };
}

export function writeRoute(route: Route): string {
  if (route.at === "events") return "#/events";
  const { at, eventId, status, endpointId, deliveryId, filters } = route;
  const item = at === "photos" ? status : at === "receivers" ? (deliveryId ?? endpointId) : null;
  const path = ["", "events", eventId, deliveryId ? "deliveries" : at, ...(item ? [item] : [])];
  const given = writeFilters(filters);
  if (deliveryId && endpointId) given.set("to", endpointId);
  const query = given.toString();
  return `#${path.map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

/** Returns the address of a tab of an event; `further` names a place within it. */
export function linkTo(at: Room, eventId: string, further: Partial<Place> = {}): string {
  return writeRoute({ at, eventId, status: "pending", endpointId: null, deliveryId: null, filters: NO_FILTERS, ...further });
}

/** URLs of receivers may hold keys: their room is for admins and superadmins. A room of no use is not there. */
export function isOpenTo(role: Role, room: Room): boolean {
  return room !== "receivers" || role !== "moderator";
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
