import { eventWords, isEventType } from "../domain/event_type.ts";

/** What happened, in words, with the name that programs know it by beside them. */
export function EventWords({ type }: { readonly type: string }) {
  return (
    <span class="event-words">
      <bdi>{eventWords(type)}</bdi>
      {isEventType(type) && <code>{type}</code>}
    </span>
  );
}
