// The event types (spec 6.1) and their names on the pages.

// generated: event types (python3 -m emulator generate)
export const EVENT_WORDS = {
  "photo.uploaded": "A photo was uploaded",
  "photo.approved": "A photo was approved",
  "photo.rejected": "A photo was rejected",
  "event.published": "The event was published",
  "event.archived": "The event was archived",
  "milestone.reached": "A milestone was reached",
  "guest.joined": "A guest joined",
  "photo.deleted": "An approved photo was deleted",
} as const;
/** Types that an endpoint gets only if it lists them. */
const LISTED_ONLY = ["photo.deleted"];
// end of event types
export type EventType = keyof typeof EVENT_WORDS;
export const EVENT_TYPES = Object.keys(EVENT_WORDS) as readonly EventType[];
/** The types of a URL that lists none. */
export const USUAL_EVENT_TYPES = EVENT_TYPES.filter((type) => !LISTED_ONLY.includes(type));

export function isEventType(value: unknown): value is EventType {
  return (EVENT_TYPES as readonly unknown[]).includes(value);
}

/** The name of an event type; an unknown type stays as it is. */
export function eventWords(type: string): string {
  return isEventType(type) ? EVENT_WORDS[type] : type;
}
