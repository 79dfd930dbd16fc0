import { useEffect, useMemo, useRef } from "preact/hooks";

import { type Endpoint, type Settings, watchEndpoints } from "../../data/endpoints.ts";
import { type Route, writeRoute } from "../../domain/address.ts";
import { named } from "../../domain/endpoint.ts";
import { type Filters, NO_FILTERS } from "../../domain/filters.ts";
import { wordsOf } from "../../ui/errors.ts";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { go, replace } from "../../ui/route.ts";
import { usePlace } from "../place.ts";
import { DeliveryDetail } from "./detail.tsx";
import { FilterBar } from "./filter_bar.tsx";
import { DeliveryList } from "./list.tsx";
import { Heading } from "../../ui/heading.tsx";

interface Props {
  readonly route: Exclude<Route, { at: "events" }>;
}

/** The list; or one delivery, with the list kept beside it on a desk and behind it elsewhere. */
export function DeliveriesView({ route }: Props) {
  const { sdk, eventId } = usePlace();
  const { deliveryId, filters } = route;
  // A delivery that was opened by its link needs no list beside it.
  const hasList = useRef(false);
  hasList.current ||= !deliveryId;
  const list = useRef<HTMLDivElement>(null);
  const scroll = useRef(0);
  const isListAlone = !deliveryId;
  useEffect(() => {
    if (!isListAlone) {
      scrollTo(0, 0);
      // Beside the delivery the list scrolls by itself.
      list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
      return;
    }
    scrollTo(0, scroll.current);
    const remember = () => {
      scroll.current = scrollY;
    };
    addEventListener("scroll", remember, { passive: true });
    return () => removeEventListener("scroll", remember);
  }, [isListAlone]);

  return (
    <div class={isListAlone ? "" : "split"}>
      {hasList.current && (
        <div ref={list} class="list">
          <ListWithFilters filters={filters} openId={deliveryId} />
        </div>
      )}
      {deliveryId && (
        <DeliveryDetail
          key={deliveryId}
          deliveryId={deliveryId}
          db={sdk.db}
          back={writeRoute({ ...route, eventId, deliveryId: null })}
        />
      )}
    </div>
  );
}

const NONE: readonly Endpoint[] = [];

function ListWithFilters({ filters, openId }: { readonly filters: Filters; readonly openId: string | null }) {
  const { sdk, eventId } = usePlace();
  const settings = useLive<Settings>(
    (onValue, onError) => watchEndpoints(sdk.db, eventId, onValue, onError),
    [sdk, eventId],
  );
  const endpoints = settings.state === "there" ? settings.value.endpoints : NONE;
  const labels = useMemo(() => new Map(endpoints.map(({ url, label }) => [url, label])), [endpoints]);
  const change = (changed: Filters) =>
    replace({ at: "deliveries", eventId, filters: changed, deliveryId: null, status: "pending" });
  const open = (deliveryId: string) => go({ at: "deliveries", eventId, filters, deliveryId, status: "pending" });
  const url = filters.endpoint === null ? null : named(filters.endpoint, labels.keys());
  const isUnknown = filters.endpoint !== null && url === null;

  return (
    <>
      <div class="view-head">
        {openId ? <h2>Deliveries</h2> : <Heading title="Deliveries">Deliveries</Heading>}
      </div>
      <FilterBar filters={filters} endpoints={endpoints} onChange={change} onOpen={open} />
      {settings.state === "failed" ? (
        <Notice kind="error">{wordsOf(settings.error)}</Notice>
      ) : isUnknown && settings.state === "loading" ? (
        <Skeleton />
      ) : isUnknown ? (
        <Empty title="This view is of a receiver that the event does not have">
          <p>It may have been removed, or the link is of another event.</p>
          <button type="button" onClick={() => change({ ...filters, endpoint: null })}>
            Show all receivers
          </button>
        </Empty>
      ) : (
        <DeliveryList
          filters={filters}
          url={url}
          labels={labels}
          openId={openId}
          hasEndpoints={settings.state === "loading" || endpoints.length > 0}
          onClear={() => change(NO_FILTERS)}
        />
      )}
    </>
  );
}
