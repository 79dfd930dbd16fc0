import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { deliveries, hearFrom } from "../../data/deliveries.ts";
import { Feed, type FeedState } from "../../domain/feed.ts";
import { type Filters, isFiltered, queryOf } from "../../domain/filters.ts";
import { linkTo, linkToDelivery } from "../../domain/address.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Connection } from "../../ui/news.tsx";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { Older } from "./older.tsx";
import { ResendShown } from "./resend_shown.tsx";
import { DeliveryTable } from "./table.tsx";

interface Props {
  readonly filters: Filters;
  readonly url: string | null;
  /** What people call the receivers, by their URLs. */
  readonly labels: ReadonlyMap<string, string>;
  /** The delivery that stands beside the list. */
  readonly openId: string | null;
  /** Whether the event has a webhook URL at all. */
  readonly hasEndpoints: boolean;
  readonly onClear: () => void;
}

const START: FeedState = { deliveries: [], state: "loading", error: null, older: "none" };

/** The deliveries that fit, live, and as many pages of older ones as are asked for. */
export function DeliveryList({ filters, url, labels, openId, hasEndpoints, onClear }: Props) {
  const { sdk, eventId } = usePlace();
  const [feed, setFeed] = useState<FeedState>(START);
  const current = useRef<Feed | null>(null);
  // A period begins where it was chosen, so that the query stays one and the same.
  const query = useMemo(() => queryOf(filters, url, new Date()), [JSON.stringify(filters), url]);
  useEffect(() => {
    setFeed(START);
    const made = new Feed(deliveries(sdk.db, eventId, query), setFeed);
    current.current = made;
    return () => made.close();
  }, [sdk, eventId, query]);
  const loadOlder = () => void current.current?.loadOlder();

  if (feed.state === "failed") return <Notice kind="error">{wordsOf(feed.error)}</Notice>;
  if (feed.state === "loading") return <Skeleton rows={8} label="Loading deliveries…" />;
  return (
    <>
      <Connection isCurrent={feed.state === "live"} news={feed} ask={() => hearFrom(sdk.db, eventId)} />
      {filters.outcome === "failed" && feed.deliveries.length > 0 && <ResendShown deliveries={feed.deliveries} />}
      {feed.deliveries.length === 0 ? (
        <Nothing filters={filters} hasEndpoints={hasEndpoints} onClear={onClear} />
      ) : (
        <DeliveryTable
          deliveries={feed.deliveries}
          labels={labels}
          openId={openId}
          linkOf={(delivery) => linkToDelivery(eventId, delivery.id, filters)}
        />
      )}
      <Older state={feed.older} onMore={loadOlder} />
    </>
  );
}

function Nothing({ filters, hasEndpoints, onClear }: Pick<Props, "filters" | "hasEndpoints" | "onClear">) {
  const { eventId } = usePlace();
  if (isFiltered(filters)) {
    return (
      <Empty title="No delivery fits">
        <p>Nothing on record has all that the filters ask for. Deliveries are kept for 30 days.</p>
        <button type="button" onClick={onClear}>Clear filters</button>
      </Empty>
    );
  }
  return hasEndpoints ? (
    <Empty title="Nothing delivered yet">
      <p>As soon as something happens at the event it shows here. Or try it: send a test to one of the receivers.</p>
      <p><a href={linkTo("endpoints", eventId)}>Receivers</a></p>
    </Empty>
  ) : (
    <Empty title="No receiver yet">
      <p>Add the address of a receiver, and everything that happens at the event is sent there, signed.</p>
      <p><a href={linkTo("endpoints", eventId)}>Add a receiver</a></p>
    </Empty>
  );
}
