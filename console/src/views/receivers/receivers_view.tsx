import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { DELIVERIES_PAGE, watchDeliveries } from "../../data/deliveries.ts";
import type { Settings } from "../../data/endpoints.ts";
import { isAdmin } from "../../data/session.ts";
import { type Place, linkTo } from "../../domain/address.ts";
import type { Delivery } from "../../domain/delivery.ts";
import { type Endpoint, MAX_URLS } from "../../domain/endpoint.ts";
import { NO_FILTERS } from "../../domain/filters.ts";
import { missingWords } from "../../domain/health.ts";
import { count } from "../../domain/words.ts";
import { Heading } from "../../ui/heading.tsx";
import { type Live, type LiveList, Shown, useList } from "../../ui/live.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { Foreign, Url } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace, useSettings } from "../place.ts";
import { Deliveries } from "./deliveries.tsx";
import { DeliveryPage } from "./delivery_page.tsx";
import { EndpointDialog } from "./dialogs.tsx";
import { HealthBadge, useHealth } from "./health.tsx";
import { NotifyCard } from "./notify.tsx";
import { ReceiverPage } from "./receiver_page.tsx";
import { SecretCard } from "./secret.tsx";

/** The receivers of the event, one of them, or one delivery; behind that the list stays as it was. */
export function ReceiversView({ place }: { readonly place: Place }) {
  const settings = useSettings();
  const { deliveryId } = place;
  // A list that is looked at from a delivery is the one that led there.
  const hasList = useRef(false);
  hasList.current ||= !deliveryId;
  const scroll = useRef(0);
  const latest = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (deliveryId) {
      latest.current = deliveryId;
      return scrollTo(0, 0);
    }
    scrollTo(0, scroll.current);
    // The row that led to the delivery.
    if (latest.current) document.querySelector<HTMLElement>(`.deliveries [data-id="${CSS.escape(latest.current)}"] a`)?.focus({ preventScroll: true });
    const remember = () => void (scroll.current = scrollY);
    addEventListener("scroll", remember, { passive: true });
    return () => removeEventListener("scroll", remember);
  }, [deliveryId]);
  return (
    <>
      {hasList.current && (
        <div hidden={deliveryId !== null}>
          <Lists place={place} settings={settings} />
        </div>
      )}
      {deliveryId && <DeliveryPage key={deliveryId} place={place} deliveryId={deliveryId} endpoints={settings.value?.endpoints ?? []} />}
    </>
  );
}

/** All receivers or one, with the deliveries. */
function Lists({ place, settings }: { readonly place: Place; readonly settings: Live<Settings> }) {
  const { sdk, eventId } = usePlace();
  const { endpointId, filters } = place;
  const opened = useMemo(() => new Date(), [JSON.stringify(filters)]);
  const list = useList((part) => watchDeliveries(sdk.db, { eventId, endpointId, filters, now: opened }, part), DELIVERIES_PAGE, [sdk, eventId, endpointId, opened]);
  const labels = useMemo(() => new Map(settings.value?.endpoints.map(({ id, label }) => [id, label])), [settings.value]);
  const deliveries = <Deliveries place={place} list={list} labels={labels} />;
  return (
    <Shown live={settings} rows={4} label="Loading receivers…">
      {(found) => {
        const endpoint = found.endpoints.find(({ id }) => id === endpointId);
        if (!endpointId) return <All settings={found} list={list}>{deliveries}</All>;
        if (!endpoint) return <Unknown />;
        return <ReceiverPage key={endpointId} endpoint={endpoint} settings={found} list={list}>{deliveries}</ReceiverPage>;
      }}
    </Shown>
  );
}

interface AllProps {
  readonly settings: Settings;
  readonly list: LiveList<Delivery>;
  readonly children: preact.ComponentChildren;
}

function All({ settings: { endpoints, notify, changedAt }, list, children }: AllProps) {
  const { staff } = usePlace();
  const [isAdding, setAdding] = useState(false);
  const mayEdit = isAdmin(staff);
  const isFull = endpoints.length >= MAX_URLS;
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Receivers">Receivers</Heading>
        {mayEdit && !isFull && <button type="button" class="primary" onClick={() => setAdding(true)}>Add a receiver</button>}
      </div>
      <p class="quiet-text">
        {endpoints.length > 0 && <>{count(endpoints.length, "receiver", "receivers")} of {MAX_URLS}. </>}
        Each is sent the messages that are chosen for it, signed with the event's secret.{" "}
        <a href="/events" target="_blank" rel="noopener">What each message holds</a>
      </p>
      {!mayEdit && <Notice>You can look and try. An admin adds, changes and removes receivers.</Notice>}
      {isFull && mayEdit && <Notice>An event has {MAX_URLS} receivers at most. Remove one to add another.</Notice>}
      {endpoints.length === 0 && (
        <Empty title="No receiver yet"><p>Add the address of a receiver, and everything that happens at the event is sent there, signed.</p></Empty>
      )}
      {endpoints.length > 0 && (
        <ul class="rows" aria-label="Receivers">
          {endpoints.map((endpoint) => <Row key={endpoint.id} endpoint={endpoint} latest={list.value?.items ?? []} />)}
        </ul>
      )}
      {changedAt && <p class="quiet-text">URLs last changed on <When at={changedAt} long />.</p>}
      {children}
      <div class="two">
        <SecretCard />
        <NotifyCard notify={notify} />
      </div>
      {isAdding && <EndpointDialog before={null} others={endpoints} onClose={() => setAdding(false)} />}
    </div>
  );
}

function Row({ endpoint, latest }: { readonly endpoint: Endpoint; readonly latest: readonly Delivery[] }) {
  const { eventId } = usePlace();
  const { id, url, label, events } = endpoint;
  const live = useHealth(endpoint, latest);
  const missing = live.value?.missing ?? 0;
  const canSend = !endpoint.disabled && !endpoint.offSince && !live.value?.failingSince;
  return (
    <li>
      <a class="whole grow" href={linkTo("receivers", eventId, { endpointId: id })}>
        {label && <><Foreign>{label}</Foreign> </>}
        <Url url={url} />
      </a>
      <span class="quiet-text">{events === null ? "everything" : count(events.length, "kind of message", "kinds of messages")}</span>
      {missing > 0 && <span class="failing">{missingWords(missing)}{canSend && `: send ${missing === 1 ? "it" : "them"} again`}</span>}
      <HealthBadge endpoint={endpoint} live={live} />
    </li>
  );
}

function Unknown() {
  const { eventId } = usePlace();
  return (
    <Empty isView title="The event does not have this receiver">
      <p>It may have been removed, or the link is of another event.</p>
      <p><a href={linkTo("receivers", eventId, { filters: NO_FILTERS })}>All receivers</a></p>
    </Empty>
  );
}
