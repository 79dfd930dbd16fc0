import type { Firestore } from "firebase/firestore";
import { useState } from "preact/hooks";

import { EVENTS_PAGE, type WallEvent, createEvent, watchEvents } from "../data/events.ts";
import { countPhotos } from "../data/photos.ts";
import { type Staff, isAdmin } from "../data/session.ts";
import { linkTo } from "../domain/address.ts";
import { statusWords } from "../domain/event.ts";
import { counted } from "../domain/words.ts";
import { Heading } from "../ui/heading.tsx";
import { ShownList, useAsked, useList } from "../ui/live.tsx";
import { Empty, Notice } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { takeTold } from "../ui/told.ts";
import { EventForm } from "./overview/event_form.tsx";

interface Props {
  readonly db: Firestore;
  readonly staff: Staff;
}

/** The events to choose from, as many as are asked for. */
export function EventsView({ db, staff }: Props) {
  const { tenantId } = staff;
  const [isMaking, setMaking] = useState(false);
  const [told] = useState(takeTold);
  const list = useList((part) => watchEvents(db, tenantId, part), EVENTS_PAGE, [db, tenantId]);
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Events">Events</Heading>
        {tenantId !== null && isAdmin(staff) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>New event</button>
        )}
      </div>
      {told && <Notice kind="success"><bdi>{told}</bdi></Notice>}
      <p class="quiet-text">{tenantId ? <Foreign>{tenantId}</Foreign> : "All organizations"}</p>
      <ShownList list={list} rows={5}>
        {({ items }) => items.length === 0
          ? <Empty title="No events yet"><p>{isAdmin(staff) ? "Create your first event to get started." : "Events appear here once an admin creates one."}</p></Empty>
          : <ul class="rows">{items.map((event) => <Row key={event.id} db={db} event={event} />)}</ul>}
      </ShownList>
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

function Row({ db, event: { id, name, status } }: { readonly db: Firestore; readonly event: WallEvent }) {
  const counts = useAsked(() => Promise.all((["pending", "approved"] as const).map((one) => countPhotos(db, id, one))), [id]).value;
  const [waiting = 0, approved = 0] = counts ?? [];
  return (
    <li>
      <a class="whole" href={linkTo("overview", id)}><Foreign>{name}</Foreign></a>
      <span class="badge">{statusWords(status)}</span>
      <span class="quiet-text grow"><Foreign>{id}</Foreign></span>
      {counts && <span class="quiet-text">{waiting > 0 && <strong>{counted(waiting)} pending, </strong>}{counted(approved)} approved</span>}
    </li>
  );
}
