import { useLayoutEffect, useMemo } from "preact/hooks";

import { Calls } from "../data/calls.ts";
import { Decisions } from "../data/decisions.ts";
import { watchEvent } from "../data/events.ts";
import { PHOTOS_PAGE, watchPhotos } from "../data/photos.ts";
import { type Staff, idToken } from "../data/session.ts";
import { type Place, ROOMS, type Room, isOpenTo, linkTo } from "../domain/address.ts";
import { statusWords } from "../domain/event.ts";
import { isRefusal, wordsOf } from "../ui/errors.ts";
import { useWaiting } from "../ui/heading.tsx";
import { useList, useLive } from "../ui/live.tsx";
import { Empty, Skeleton } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { OverviewView } from "./overview/overview_view.tsx";
import { PhotosView } from "./photos/photos_view.tsx";
import { PlaceContext, type Sdk, useWaitingWords } from "./place.ts";
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
  const { value: event, error } = useLive(() => watchEvent(sdk.db, eventId), [sdk, eventId]);
  const waiting = useList((part) => watchPhotos(sdk.db, eventId, "pending", part), PHOTOS_PAGE, [sdk, eventId]);
  const calls = useMemo(() => new Calls(() => idToken(sdk.auth), eventId), [sdk, eventId]);
  // `staff` is a new object with each hourly ID token. The decisions stay.
  const decisions = useMemo(() => new Decisions(sdk.db, eventId, staff), [sdk, eventId, staff.uid, staff.email]);
  const eventName = event?.name ?? eventId;
  const tally = useWaitingWords(sdk.db, eventId, waiting);
  useWaiting(tally);
  // A room begins at its top.
  useLayoutEffect(() => {
    scrollTo(0, 0);
    document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [at, route.status]);

  return (
    <PlaceContext.Provider value={{ sdk, staff, eventId, eventName, calls, decisions, waiting, waitingWords: tally }}>
      <TopBar auth={sdk.auth} staff={staff}>
        <div class="event-name">
          <span class="slash" aria-hidden="true">/</span>
          <a href={linkTo("overview", eventId)} aria-current={at === "overview" ? "page" : undefined}><Foreign>{eventName}</Foreign></a>
          {event && <span class="badge">{statusWords(event.status)}</span>}
        </div>
      </TopBar>
      <nav class="tabs" aria-label="Event sections">
        <ul>
          {(Object.keys(ROOMS) as Room[]).filter((room) => isOpenTo(staff.role, room)).map((room) => (
            <li key={room}>
              <a href={linkTo(room, eventId)} aria-current={room === at ? "page" : undefined}>
                {ROOMS[room]}
                {room === "photos" && tally && <>{" "}<span class="tally">{tally}<span class="unseen"> pending</span></span></>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main tabIndex={-1} class={at === "receivers" || at === "photos" ? "wide" : ""}>
        {event === null || error ? (
          <Empty isView title="Event not found">
            <p>{error && !isRefusal(error) ? wordsOf(error) : "This event doesn't exist, or you don't have access to it."}</p>
            <p><a href="#/events">All events</a></p>
          </Empty>
        ) : !isOpenTo(staff.role, at) ? (
          <Empty isView title="Only admins can see webhooks">
            <p>Webhook URLs can contain keys, so only admins can view them. Ask an admin for access.</p>
            <p><a href={linkTo("overview", eventId)}>Overview</a></p>
          </Empty>
        ) : !event ? (
          <Skeleton />
        ) : (
          <>
            {at === "overview" && <OverviewView event={event} />}
            {at === "photos" && <PhotosView key={route.status} status={route.status} />}
            {at === "recap" && <RecapView />}
            {at === "receivers" && <ReceiversView place={route} />}
          </>
        )}
      </main>
    </PlaceContext.Provider>
  );
}
