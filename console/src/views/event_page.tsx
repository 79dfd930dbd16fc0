import { useEffect, useMemo, useRef } from "preact/hooks";

import { Calls } from "../data/calls.ts";
import { type WallEvent, watchEvent } from "../data/events.ts";
import type { Sdk } from "../data/sdk.ts";
import { type Staff, idToken, seesDeliveries } from "../data/session.ts";
import { type Route, type View, linkTo } from "../domain/address.ts";
import { wordsOf } from "../ui/errors.ts";
import { Heading } from "../ui/heading.tsx";
import { useLive } from "../ui/live.ts";
import { Empty, Notice } from "../ui/notice.tsx";
import { Foreign } from "../ui/text.tsx";
import { DeliveriesView } from "./deliveries/deliveries_view.tsx";
import { EndpointsView } from "./endpoints/endpoints_view.tsx";
import { PlaceContext, usePlace } from "./place.ts";
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

const TITLES: Readonly<Record<View, string>> = {
  deliveries: "Deliveries",
  endpoints: "Endpoints",
  recaps: "Recaps",
  sharing: "Sharing",
  secret: "Secret",
  signature: "Signature checker",
};

// What holds webhook URLs, which may hold keys.
const OWNERS_ONLY: readonly View[] = ["deliveries", "endpoints", "sharing"];

/** One event: its name, the ways to its views, and one of them. */
export function EventPage({ sdk, staff, route }: Props) {
  const { eventId, at } = route;
  const event = useLive<WallEvent>((onEvent, onError) => watchEvent(sdk.db, eventId, onEvent, onError), [eventId]);
  const place = useMemo(
    () => ({ sdk, staff, eventId, calls: new Calls(() => idToken(sdk.auth), eventId) }),
    [sdk, staff, eventId],
  );
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone not all of them are in sight.
    const here = tabs.current?.querySelector("[aria-current]");
    here?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [at]);
  const isRefused = event.state === "missing" || event.state === "failed";

  return (
    <PlaceContext.Provider value={place}>
      <TopBar auth={sdk.auth} staff={staff}>
        <div class="event-name">
          <span class="slash" aria-hidden="true">/</span>
          <Foreign>{event.state === "there" ? event.value.name : eventId}</Foreign>
          {event.state === "there" && <span class="tag">{event.value.status}</span>}
        </div>
      </TopBar>
      <nav ref={tabs} class="tabs" aria-label="Views of the event">
        <ul>
          {(Object.keys(TITLES) as View[]).map((view) => (
            <li key={view}>
              <a href={linkTo(view, eventId)} aria-current={view === at ? "page" : undefined}>
                {TITLES[view]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main tabIndex={-1} class={at === "deliveries" ? "wide" : ""}>
        {isRefused ? (
          <Empty title="This event cannot be shown">
            <p>
              {event.state === "failed"
                ? wordsOf(event.error)
                : "There is no event of this name, or it is another tenant's."}
            </p>
            <p><a href="#/events">All events</a></p>
          </Empty>
        ) : !seesDeliveries(staff) && OWNERS_ONLY.includes(at) ? (
          <AdminsOnly title={TITLES[at]} />
        ) : (
          <Body route={route} />
        )}
      </main>
    </PlaceContext.Provider>
  );
}

function Body({ route }: Pick<Props, "route">) {
  switch (route.at) {
    case "deliveries":
      return <DeliveriesView route={route} />;
    case "endpoints":
      return <EndpointsView />;
    case "recaps":
      return <RecapsView />;
    case "sharing":
      return <SharingView />;
    case "secret":
      return <SecretView />;
    case "signature":
      return <SignatureView />;
  }
}

/** What a moderator is told: the reason, and whom to ask. */
function AdminsOnly({ title }: { readonly title: string }) {
  return (
    <div class="column">
      <Heading title={title}>{title}</Heading>
      <Notice>
        <p>
          Webhook addresses may hold keys, so this is for the admins of your tenant and for superadmins. Ask one of
          them: an admin can also make a link to the deliveries of one address.
        </p>
        <p>You moderate photos, and you see and send <a href={linkTo("recaps", usePlace().eventId)}>recaps</a>.</p>
      </Notice>
    </div>
  );
}
