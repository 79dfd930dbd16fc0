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

/** All endpoints or one, with the deliveries. */
function Lists({ place, settings }: { readonly place: Place; readonly settings: Live<Settings> }) {
  const { sdk, eventId } = usePlace();
  const { endpointId, filters } = place;
  const opened = useMemo(() => new Date(), [JSON.stringify(filters)]);
  const list = useList((part) => watchDeliveries(sdk.db, { eventId, endpointId, filters, now: opened }, part), DELIVERIES_PAGE, [sdk, eventId, endpointId, opened]);
  const labels = useMemo(() => new Map(settings.value?.endpoints.map(({ id, label }) => [id, label])), [settings.value]);
  const deliveries = <Deliveries place={place} list={list} labels={labels} />;
  return (
    <Shown live={settings} rows={4} label="Loading webhooks…">
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
  const { staff, eventId } = usePlace();
  const [isAdding, setAdding] = useState(false);
  const mayEdit = isAdmin(staff);
  const isFull = endpoints.length >= MAX_URLS;
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Webhooks">Webhooks</Heading>
        {mayEdit && !isFull && <button type="button" class="primary" onClick={() => setAdding(true)}>Add endpoint</button>}
      </div>
      <p class="quiet-text">
        {endpoints.length > 0 && <>{endpoints.length} of {MAX_URLS} endpoints. </>}
        Each endpoint receives the events you select, signed with the event's secret.{" "}
        <a href="/events" target="_blank" rel="noopener">Event reference</a>
      </p>
      {!mayEdit && <Notice>View and test only. Ask an admin to add, edit or remove endpoints.</Notice>}
      {isFull && mayEdit && <Notice>An event can have up to {MAX_URLS} endpoints. Remove one to add another.</Notice>}
      {endpoints.length === 0 && (
        <Empty title="No endpoints yet"><p>Add an endpoint to send signed event notifications to your own systems.</p></Empty>
      )}
      {endpoints.length > 0 && (
        <ul class="rows" aria-label="Endpoints">
          {endpoints.map((endpoint) => <Row key={endpoint.id} endpoint={endpoint} list={list} />)}
        </ul>
      )}
      {changedAt && <p class="quiet-text">Webhooks last edited <When at={changedAt} long />.</p>}
      {children}
      <div class="two">
        <SecretCard />
        <NotifyCard notify={notify} />
      </div>
      {isAdding && <EndpointDialog before={null} others={endpoints} onClose={() => setAdding(false)} onAdded={(id) => void (location.hash = linkTo("receivers", eventId, { endpointId: id }))} />}
    </div>
  );
}

function Row({ endpoint, list }: { readonly endpoint: Endpoint; readonly list: LiveList<Delivery> }) {
  const { eventId } = usePlace();
  const { id, url, label, events } = endpoint;
  const live = useHealth(endpoint, list);
  const missing = live.value?.missing ?? 0;
  const canSend = !endpoint.disabled && !endpoint.offSince && !live.value?.failingSince;
  return (
    <li>
      <a class="whole grow" href={linkTo("receivers", eventId, { endpointId: id })}>
        {label && <><Foreign>{label}</Foreign> </>}
        <Url url={url} />
      </a>
      <span class="quiet-text">{events === null ? "All events" : count(events.length, "event", "events")}</span>
      {missing > 0 && <span class="failing">{missingWords(missing)}{canSend && " (can be resent)"}</span>}
      <HealthBadge endpoint={endpoint} live={live} />
    </li>
  );
}

function Unknown() {
  const { eventId } = usePlace();
  return (
    <Empty isView title="Endpoint not found">
      <p>It may have been removed, or the link belongs to another event.</p>
      <p><a href={linkTo("receivers", eventId, { filters: NO_FILTERS })}>All endpoints</a></p>
    </Empty>
  );
}
