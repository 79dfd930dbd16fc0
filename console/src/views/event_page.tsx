import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Calls } from "../data/calls.ts";
import { Decisions } from "../data/decisions.ts";
import { type WallEvent, watchEvent } from "../data/events.ts";
import { PHOTOS_PAGE, type PhotoList, watchPhotos } from "../data/photos.ts";
import { type Staff, idToken } from "../data/session.ts";
import { type Route, type View, linkTo } from "../domain/address.ts";
import { statusWords } from "../domain/event.ts";
import { type Role, TITLES, isOpenTo, tabsOf } from "../domain/tabs.ts";
import { isRefusal, wordsOf } from "../ui/errors.ts";
import { Heading } from "../ui/heading.tsx";
import { useLive } from "../ui/live.ts";
import { useLive as useLiveList } from "../ui/live.tsx";
import { Empty, Notice, Skeleton } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { DeliveriesView } from "./deliveries/deliveries_view.tsx";
import { EndpointsView } from "./endpoints/endpoints_view.tsx";
import { OverviewView } from "./overview/overview_view.tsx";
import { PhotosView } from "./photos/photos_view.tsx";
import { PlaceContext, type Sdk, WaitingContext, usePlace } from "./place.ts";
import { RecapsView } from "./recaps/recaps_view.tsx";
import { SecretView } from "./secret.tsx";
import { SharingView } from "./sharing.tsx";
import { SignatureView } from "./signature.tsx";
import { TopBar } from "./top_bar.tsx";

interface Props {
  readonly sdk: Sdk;
  readonly staff: Staff;
  readonly route: Exclude<Route, { at: "events" }>;
}

/** One event: its name, the ways to its views, and one of them. */
export function EventPage({ sdk, staff, route }: Props) {
  const { eventId, at } = route;
  const event = useLive<WallEvent>((onEvent, onError) => watchEvent(sdk.db, eventId, onEvent, onError), [eventId]);
  const place = useMemo(
    () => ({ sdk, staff, eventId, calls: new Calls(() => idToken(sdk.auth), eventId), decisions: new Decisions(sdk.db, eventId, staff.email) }),
    [sdk, staff, eventId],
  );
  const [most, setMost] = useState(PHOTOS_PAGE);
  const waiting = useLiveList<PhotoList>(
    (onValue, onError) => watchPhotos(sdk.db, eventId, "pending", most, onValue, onError),
    [sdk, eventId],
    most,
  );
  const photos = useMemo(() => ({ live: waiting, more: () => setMost(most + PHOTOS_PAGE) }), [waiting, most]);
  const isRefused = event.state === "missing" || event.state === "failed";

  return (
    <PlaceContext.Provider value={place}>
    <WaitingContext.Provider value={photos}>
      <TopBar auth={sdk.auth} staff={staff}>
        <div class="event-name">
          <span class="slash" aria-hidden="true">/</span>
          <Foreign>{event.state === "there" ? event.value.name : eventId}</Foreign>
          {event.state === "there" && <span class="tag">{statusWords(event.value.status)}</span>}
        </div>
      </TopBar>
      <Tabs at={at} eventId={eventId} role={staff.role} waiting={waiting.value ?? null} />
      <main tabIndex={-1} class={at === "deliveries" ? "wide" : ""}>
        {isRefused ? (
          <Empty title="This event cannot be shown">
            <p>
              {event.state === "failed" && !isRefusal(event.error)
                ? wordsOf(event.error)
                : "There is no event with this id, or it belongs to another organization."}
            </p>
            <p><a href="#/events">All events</a></p>
          </Empty>
        ) : !isOpenTo(staff.role, at) ? (
          <NotForThem title={TITLES[at]} />
        ) : (
          event.state === "there" ? <Body route={route} event={event.value} /> : <Skeleton />
        )}
      </main>
    </WaitingContext.Provider>
    </PlaceContext.Provider>
  );
}

interface TabsProps {
  readonly at: View;
  readonly eventId: string;
  readonly role: Role;
  readonly waiting: PhotoList | null;
}

/** The ways to the views; those of webhooks stand in a second row. */
function Tabs({ at, eventId, role, waiting }: TabsProps) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone not all of them are in sight.
    const here = nav.current?.querySelectorAll("[aria-current]");
    here?.forEach((tab) => tab.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }, [at]);
  const tabs = tabsOf(role);
  const current = tabs.find(({ views }) => views.includes(at));
  return (
    <nav ref={nav} class="tabs" aria-label="Views of the event">
      <ul>
        {tabs.map(({ title, view, views }) => (
          <li key={title}>
            <a href={linkTo(view, eventId)} aria-current={views.includes(at) ? (views.length > 1 ? "true" : "page") : undefined}>
              {title}
              {view === "photos" && waiting !== null && waiting.photos.length > 0 && (
                <span class="tally">{waiting.photos.length}{waiting.hasMore && "+"}<span class="unseen"> waiting</span></span>
              )}
            </a>
          </li>
        ))}
      </ul>
      {current && current.views.length > 1 && (
        <ul class="subtabs" aria-label={current.title}>
          {current.views.map((view) => (
            <li key={view}>
              <a href={linkTo(view, eventId)} aria-current={view === at ? "page" : undefined}>{TITLES[view]}</a>
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

function Body({ route, event }: Pick<Props, "route"> & { readonly event: WallEvent }) {
  switch (route.at) {
    case "overview":
      return <OverviewView event={event} />;
    case "photos":
      return <PhotosView key={route.status} status={route.status} />;
    case "deliveries":
      return <DeliveriesView route={route} />;
    case "endpoints":
      return <EndpointsView />;
    case "recaps":
      return <RecapsView />;
    case "sharing":
      return <SharingView endpoint={route.filters.endpoint} />;
    case "secret":
      return <SecretView />;
    case "signature":
      return <SignatureView />;
  }
}

/** What somebody is told who opened the link of a view that is not theirs: whom to ask. */
function NotForThem({ title }: { readonly title: string }) {
  const { eventId } = usePlace();
  return (
    <div class="column">
      <Heading title={title}>{title}</Heading>
      <Notice>
        <p>
          {title === TITLES.secret
            ? "Only superadmins see the secret and replace it. Ask one of them, or the operator of this service."
            : "Addresses of webhooks may hold keys, so this view is for admins. Ask one of them."}
        </p>
        <p><a href={linkTo("overview", eventId)}>Overview</a></p>
      </Notice>
    </div>
  );
}
