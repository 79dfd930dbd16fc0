import { type Recap, type RecapLock, watchLock, watchRecaps } from "../../data/recaps.ts";
import { linkTo } from "../../domain/address.ts";
import { recapWords } from "../../domain/recap.ts";
import { wordsOf } from "../../ui/errors.ts";
import { useLive } from "../../ui/live.ts";
import { Skeleton } from "../../ui/notice.tsx";
import { Countdown, When, useNow } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { Tile } from "./tile.tsx";

export function RecapTile() {
  const { sdk, eventId } = usePlace();
  const recaps = useLive<readonly Recap[]>(
    (onValue, onError) => watchRecaps(sdk.db, eventId, 1, onValue, onError),
    [sdk, eventId],
  );
  const lock = useLive<RecapLock>(
    (onValue, onError) => watchLock(sdk.db, eventId, onValue, onError),
    [sdk, eventId],
  );
  const [latest] = recaps.state === "there" ? recaps.value : [];
  return (
    <Tile title="Last recap">
      {recaps.state === "failed" && <p class="field-error">{wordsOf(recaps.error)}</p>}
      {recaps.state === "loading" && <Skeleton rows={1} />}
      {recaps.state === "there" && !latest && <p class="quiet-text">None was sent yet.</p>}
      {latest && (
        <p>
          {latest.startedAt && <><When at={latest.startedAt} />: </>}
          {recapWords(latest)}
        </p>
      )}
      {latest && lock.state === "there" && <Next lock={lock.value} />}
      <p><a href={linkTo("recaps", eventId)}>{latest ? "All recaps" : "Prepare a recap"}</a></p>
    </Tile>
  );
}

function Next({ lock: { leasedUntil, cooldownUntil, isUnfinished } }: { readonly lock: RecapLock }) {
  const now = useNow(10_000);
  if (leasedUntil && leasedUntil > now) return <p class="quiet-text">One is being sent right now.</p>;
  if (!cooldownUntil || cooldownUntil <= now) return <p class="quiet-text">The next one can be sent now.</p>;
  if (isUnfinished) return <p class="quiet-text">It was interrupted. Sending again goes on with it.</p>;
  return <p class="quiet-text">The next one can be sent <Countdown to={cooldownUntil} />.</p>;
}
