import { useMemo, useState } from "preact/hooks";

import { Calls } from "../data/calls.ts";
import { Decisions } from "../data/decisions.ts";
import { type WallEvent, watchEvent } from "../data/events.ts";
import { PHOTOS_PAGE, type PhotoList, watchPhotos } from "../data/photos.ts";
import { type Staff, idToken } from "../data/session.ts";
import { type Place, ROOMS, type Room, isOpenTo, linkTo } from "../domain/address.ts";
import { statusWords } from "../domain/event.ts";
import { isRefusal, wordsOf } from "../ui/errors.ts";
import { Heading } from "../ui/heading.tsx";
import { useLive } from "../ui/live.tsx";
import { Empty, Notice, Skeleton } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { OverviewView } from "./overview/overview_view.tsx";
import { PhotosView } from "./photos/photos_view.tsx";
import { PlaceContext, type Sdk, WaitingContext } from "./place.ts";
import { RecapView } from "./recap/recap_view.tsx";
import { ReceiversView } from "./receivers/receivers_view.tsx";
import { TopBar } from "./top_bar.tsx";

interface Props {
  readonly sdk: Sdk;
  readonly staff: Staff;
  readonly route: Place;
}

/** One event: its name, the ways to its rooms, and one of them. */
export function EventPage({ sdk, staff, route }: Props) {
  const { eventId, at } = route;
  const { value: event, error } = useLive<WallEvent>((onEvent, onError) => watchEvent(sdk.db, eventId, onEvent, onError), [eventId]);
  const actions = useMemo(
    () => ({ sdk, staff, eventId, calls: new Calls(() => idToken(sdk.auth), eventId), decisions: new Decisions(sdk.db, eventId, staff.email) }),
    [sdk, staff, eventId],
  );
  const eventName = event?.name ?? eventId;
  const place = useMemo(() => ({ ...actions, eventName }), [actions, eventName]);
  const [most, setMost] = useState(PHOTOS_PAGE);
  const live = useLive<PhotoList>((onValue, onError) => watchPhotos(sdk.db, eventId, "pending", most, onValue, onError), [sdk, eventId], most);
  const waiting = useMemo(() => ({ live, more: () => setMost(most + PHOTOS_PAGE) }), [live, most]);

  return (
    <PlaceContext.Provider value={place}>
      <WaitingContext.Provider value={waiting}>
        <TopBar auth={sdk.auth} staff={staff}>
          <div class="event-name">
            <span class="slash" aria-hidden="true">/</span>
            <a href={linkTo("overview", eventId)} aria-current={at === "overview" ? "page" : undefined}><Foreign>{eventName}</Foreign></a>
            {event && <span class="badge">{statusWords(event.status)}</span>}
          </div>
        </TopBar>
        <nav class="tabs" aria-label="Rooms of the event">
          <ul>
            {(Object.keys(ROOMS) as Room[]).filter((room) => isOpenTo(staff.role, room)).map((room) => (
              <li key={room}>
                <a href={linkTo(room, eventId)} aria-current={room === at ? "page" : undefined}>
                  {ROOMS[room]}
                  {room === "photos" && live.value != null && live.value.photos.length > 0 && (
                    <span class="tally">{live.value.photos.length}{live.value.hasMore && "+"}<span class="unseen"> waiting</span></span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main tabIndex={-1} class={at === "receivers" ? "wide" : ""}>
          {event === null || error ? (
            <Empty title="This event cannot be shown">
              <p>{error && !isRefusal(error) ? wordsOf(error) : "There is no event with this id, or it belongs to another organization."}</p>
              <p><a href="#/events">All events</a></p>
            </Empty>
          ) : !isOpenTo(staff.role, at) ? (
            <NotForThem eventId={eventId} />
          ) : (
            event ? <Body route={route} event={event} /> : <Skeleton />
          )}
        </main>
      </WaitingContext.Provider>
    </PlaceContext.Provider>
  );
}

function Body({ route, event }: Pick<Props, "route"> & { readonly event: WallEvent }) {
  switch (route.at) {
    case "overview":
      return <OverviewView event={event} />;
    case "photos":
      return <PhotosView key={route.status} status={route.status} />;
    case "recap":
      return <RecapView />;
    case "receivers":
      return <ReceiversView place={route} />;
  }
}

/** What somebody is told who opened the link of a room that is not theirs: whom to ask. */
function NotForThem({ eventId }: { readonly eventId: string }) {
  return (
    <div class="column">
      <Heading title={ROOMS.receivers}>{ROOMS.receivers}</Heading>
      <Notice>
        <p>URLs of receivers may hold keys, so this room is for admins. Ask one of them.</p>
        <p><a href={linkTo("overview", eventId)}>Overview</a></p>
      </Notice>
    </div>
  );
}
