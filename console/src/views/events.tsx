import type { Firestore } from "firebase/firestore";
import { useEffect, useState } from "preact/hooks";

import { EVENTS_PAGE, type WallEvent, createEvent, eventsOf } from "../data/events.ts";
import { type Staff, isAdmin } from "../data/session.ts";
import { linkTo } from "../domain/address.ts";
import { statusWords } from "../domain/event.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { Heading } from "../ui/heading.tsx";
import { Empty, Notice, Skeleton } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { EventForm } from "./overview/event_dialog.tsx";

interface Props {
  readonly db: Firestore;
  readonly staff: Staff;
}

/** The events to choose from, a page at a time. */
export function EventsView({ db, staff }: Props) {
  const [events, setEvents] = useState<readonly WallEvent[] | null>(null);
  const [hasMore, setHasMore] = useState(false);
  const [isMaking, setMaking] = useState(false);
  const { tenantId } = staff;
  const work = useWork();

  async function load(after: string | null) {
    const found = await eventsOf(db, staff, after);
    setEvents((before) => (after === null ? found : [...(before ?? []), ...found]));
    setHasMore(found.length === EVENTS_PAGE);
  }
  useEffect(() => {
    void work.run(() => load(null));
  }, [staff.uid, staff.tenantId]);

  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Events">Events</Heading>
        {tenantId !== null && isAdmin(staff) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>New event</button>
        )}
      </div>
      <p class="quiet-text">
        {staff.tenantId ? <>Of <Foreign>{staff.tenantId}</Foreign></> : "Of all organizations"}
      </p>
      {work.error && (
        <Notice kind="error">
          {work.error} <button type="button" onClick={() => work.run(() => load(null))}>Try again</button>
        </Notice>
      )}
      {!events && !work.error && <Skeleton rows={5} />}
      {events?.length === 0 && (
        <Empty title="No events yet">
          <p>An event shows here as soon as an admin has made one.</p>
        </Empty>
      )}
      {events && events.length > 0 && (
        <ul class="rows">
          {events.map((event) => (
            <li key={event.id}>
              <a class="whole" href={linkTo("overview", event.id)}>
                <Foreign>{event.name}</Foreign>
              </a>
              <span class="tag">{statusWords(event.status)}</span>
              <span class="quiet-text"><Foreign>{event.id}</Foreign></span>
            </li>
          ))}
        </ul>
      )}
      {hasMore && (
        <ActionButton busy={work.isBusy} onClick={() => work.run(() => load(events?.at(-1)?.id ?? null))}>
          Show more
        </ActionButton>
      )}
      {isMaking && tenantId !== null && (
        <EventForm
          title="New event"
          staff={staff}
          before={null}
          save={async (fields, id) => {
            await createEvent(db, tenantId, id, fields);
            location.hash = linkTo("overview", id);
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </div>
  );
}
