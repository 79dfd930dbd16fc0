import { useState } from "preact/hooks";

import { RECAPS_PAGE, type Recap, type RecapLock, watchLock, watchRecaps } from "../../data/recaps.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { useNow, Countdown, When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { Compose } from "./compose.tsx";
import { RecapCard } from "./recap_card.tsx";

/** The recaps of an event, the one under way, and the next. */
export function RecapsView() {
  const { sdk, eventId } = usePlace();
  const recaps = useLive<readonly Recap[]>(
    (onValue, onError) => watchRecaps(sdk.db, eventId, RECAPS_PAGE, onValue, onError),
    [sdk, eventId],
  );
  const lock = useLive<RecapLock>(
    (onValue, onError) => watchLock(sdk.db, eventId, onValue, onError),
    [sdk, eventId],
  );
  const [isComposing, setComposing] = useState(false);
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Recaps">Recaps</Heading>
        {!isComposing && (
          <button type="button" class="primary" onClick={() => setComposing(true)}>Prepare a recap</button>
        )}
      </div>
      <p class="quiet-text prose">
        One mail to every guest whose address is on an approved photo: their own photos, or the event's highlights. Nobody
        gets two mails of one recap, and whoever has opted out gets none.
      </p>
      {lock.state === "there" && <LockLine lock={lock.value} />}
      {isComposing && <Compose onClose={() => setComposing(false)} />}
      {recaps.state === "failed" && <Notice kind="error">{wordsOf(recaps.error)}</Notice>}
      {recaps.state === "loading" && <Skeleton rows={3} label="Loading recaps…" />}
      {recaps.state === "there" && !recaps.value.length && !isComposing && (
        <Empty title="No recap yet">
          <p>Look at it first: preparing one sends nothing, and says how many guests it would go to.</p>
        </Empty>
      )}
      {recaps.state === "there" && recaps.value.map((recap) => <RecapCard key={recap.id} recap={recap} />)}
    </div>
  );
}

function LockLine({ lock: { leasedUntil, cooldownUntil, isUnfinished } }: { readonly lock: RecapLock }) {
  const now = useNow(10_000);
  if (leasedUntil && leasedUntil > now) return <Notice>A recap is being sent right now.</Notice>;
  if (!cooldownUntil || cooldownUntil <= now) return null;
  if (isUnfinished) {
    return <Notice kind="warning">The last recap was interrupted. Sending again continues it, and mails only the guests who are left.</Notice>;
  }
  return (
    <Notice>
      The next recap can be sent <Countdown to={cooldownUntil} /> (<When at={cooldownUntil} />): one in 24 hours.
    </Notice>
  );
}
