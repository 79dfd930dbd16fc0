import { useState } from "preact/hooks";

import { type Settings, watchEndpoints } from "../../data/endpoints.ts";
import { isAdmin } from "../../data/session.ts";
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
      {endpoints.map((endpoint) => (
        <EndpointCard key={endpoint.url} endpoint={endpoint} others={endpoints} mayEdit={mayEdit} />
      ))}
      <NotifyCard notify={notify} mayEdit={mayEdit} />
      {isAdding && <EndpointDialog before={null} others={endpoints} onClose={() => setAdding(false)} />}
    </div>
  );
}
