import { useState } from "preact/hooks";

import { type Settings, watchEndpoints } from "../../data/endpoints.ts";
import { editsEndpoints } from "../../data/session.ts";
import { MAX_URLS } from "../../domain/endpoint.ts";
import { count } from "../../domain/words.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { EndpointCard } from "./card.tsx";
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
  const mayEdit = editsEndpoints(staff);
  if (live.state === "failed") return <Notice kind="error">{wordsOf(live.error)}</Notice>;
  if (live.state !== "there") return <Skeleton rows={4} label="Loading endpoints…" />;
  const { endpoints, notify } = live.value;
  const isFull = endpoints.length >= MAX_URLS;

  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Endpoints">Endpoints</Heading>
        {mayEdit && !isFull && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add a URL
          </button>
        )}
      </div>
      <p class="quiet-text">
        {endpoints.length > 0 && <>{count(endpoints.length, "URL", "URLs")} of {MAX_URLS}. </>}
        Each gets the types that it takes, signed with the event's secret.{" "}
        <a href="/events" target="_blank" rel="noopener">What each type holds</a>
      </p>
      {!mayEdit && <Notice>You can look and try. An admin of the tenant adds, changes and removes URLs.</Notice>}
      {isFull && mayEdit && <Notice>An event has {MAX_URLS} URLs at most. Remove one to add another.</Notice>}
      {endpoints.length === 0 && (
        <Empty title="No webhook URL yet">
          <p>Add the address of a receiver, and everything that happens at the event goes there, signed.</p>
        </Empty>
      )}
      {endpoints.map((endpoint) => (
        <EndpointCard key={endpoint.url} endpoint={endpoint} others={endpoints} mayEdit={mayEdit} />
      ))}
      <NotifyCard notify={notify} mayEdit={mayEdit} />
      {isAdding && <EndpointDialog before={null} others={endpoints} onClose={() => setAdding(false)} />}
    </div>
  );
}
