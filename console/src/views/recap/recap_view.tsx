import { RECAPS_PAGE, watchLock, watchRecaps } from "../../data/recaps.ts";
import { Heading } from "../../ui/heading.tsx";
import { ShownList, useList, useLive } from "../../ui/live.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { Compose } from "./compose.tsx";
import { PlannedNotice } from "./planned.tsx";
import { LockWords, RecapCard } from "./recap_card.tsx";

/** The next recap, the one under way, and those that were sent. */
export function RecapView() {
  const { sdk, eventId } = usePlace();
  const recaps = useList((part) => watchRecaps(sdk.db, eventId, part), RECAPS_PAGE, [sdk, eventId]);
  const lock = useLive(() => watchLock(sdk.db, eventId), [sdk, eventId]);
  const hasRecap = Boolean(recaps.value?.items.length);
  return (
    <div class="column">
      <Heading title="Recap">Recap</Heading>
      <p class="quiet-text">
        One mail to every guest whose address is on an approved photo: their own photos, or the event's highlights. Nobody
        gets two mails of one recap, and a guest who has opted out gets none.
      </p>
      {lock.value && hasRecap && (
        <Notice kind={lock.value.isUnfinished ? "warning" : "info"}><LockWords lock={lock.value} /></Notice>
      )}
      <PlannedNotice />
      <Compose hasRecap={hasRecap} />
      <ShownList list={recaps} rows={3} label="Loading recaps…">
        {({ items }) => items.length
          ? items.map((recap, index) => <RecapCard key={recap.id} recap={recap} isLast={index === 0} />)
          : <Empty title="No recap yet"><p>A preview sends nothing, and says how many guests the recap would go to.</p></Empty>}
      </ShownList>
    </div>
  );
}
