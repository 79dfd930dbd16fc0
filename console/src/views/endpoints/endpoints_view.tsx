import { useEffect, useState } from "preact/hooks";

import { type Endpoint, type Settings, watchEndpoints } from "../../data/endpoints.ts";
import { healthOf } from "../../data/health.ts";
import { isAdmin } from "../../data/session.ts";
import { MAX_URLS, problem } from "../../domain/endpoint.ts";
import type { Health } from "../../domain/health.ts";
import { count } from "../../domain/words.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { EndpointCard, type KnownHealth } from "./card.tsx";
import { EndpointDialog } from "./edit.tsx";
import { NotifyCard } from "./notify.tsx";

/** The webhook URLs of the event: how each is doing, and everything that can be done with it. */
export function EndpointsView() {
  const { sdk, staff, eventId } = usePlace();
  const live = useLive<Settings>(
    (onValue, onError) => watchEndpoints(sdk.db, eventId, onValue, onError),
    [sdk, eventId],
  );
  const [isAdding, setAdding] = useState(false);
  const healths = useHealths(live.state === "there" ? live.value.endpoints : []);
  const mayEdit = isAdmin(staff);
  if (live.state === "failed") return <Notice kind="error">{wordsOf(live.error)}</Notice>;
  if (live.state !== "there") return <Skeleton rows={4} label="Loading receivers…" />;
  const { endpoints, notify } = live.value;
  const isFull = endpoints.length >= MAX_URLS;

  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Receivers">Receivers</Heading>
        {mayEdit && !isFull && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add a receiver
          </button>
        )}
      </div>
      <p class="quiet-text">
        {endpoints.length > 0 && <>{count(endpoints.length, "receiver", "receivers")} of {MAX_URLS}. </>}
        Each is sent the messages that are chosen for it, signed with the event's secret.{" "}
        <a href="/events" target="_blank" rel="noopener">What each message holds</a>
      </p>
      {!mayEdit && <Notice>You can look and try. An admin adds, changes and removes receivers.</Notice>}
      {isFull && mayEdit && <Notice>An event has {MAX_URLS} receivers at most. Remove one to add another.</Notice>}
      {endpoints.length === 0 && (
        <Empty title="No receiver yet">
          <p>Add the address of a receiver, and everything that happens at the event is sent there, signed.</p>
        </Empty>
      )}
      {inOrder(endpoints, healths.known).map((endpoint) => (
        <EndpointCard
          key={endpoint.url}
          endpoint={endpoint}
          others={endpoints}
          mayEdit={mayEdit}
          health={healths.known.get(endpoint.url) ?? null}
          reload={() => healths.load(endpoint.url)}
        />
      ))}
      <NotifyCard notify={notify} mayEdit={mayEdit} />
      {isAdding && <EndpointDialog before={null} others={endpoints} onClose={() => setAdding(false)} />}
    </div>
  );
}

/** The receivers that somebody has to look at first, the ones that are switched off last. */
function inOrder(endpoints: readonly Endpoint[], healths: ReadonlyMap<string, KnownHealth>): readonly Endpoint[] {
  // Nothing moves before all is known.
  if (endpoints.some(({ url }) => !healths.has(url))) return endpoints;
  const rank = ({ url, disabled, offSince }: Endpoint) => {
    if (offSince) return 3;
    if (disabled || problem(url)) return 0;
    const known = healths.get(url);
    return known && "health" in known && known.health.failingSince ? 1 : 2;
  };
  return [...endpoints].sort((one, other) => rank(one) - rank(other));
}

/** How each URL is doing, read once for each, and again when that is asked for. */
function useHealths(endpoints: readonly Endpoint[]) {
  const { sdk, eventId } = usePlace();
  const [known, setKnown] = useState<ReadonlyMap<string, KnownHealth>>(new Map());
  const load = (url: string) => {
    const put = (found: KnownHealth) => setKnown((before) => new Map(before).set(url, found));
    healthOf(sdk.db, eventId, url, new Date()).then(
      (health: Health) => put({ health }),
      (error: unknown) => put({ error }),
    );
  };
  const urls = endpoints.map(({ url }) => url);
  useEffect(() => {
    for (const url of urls) if (!known.has(url)) load(url);
  }, [JSON.stringify(urls)]);
  return { known, load };
}
