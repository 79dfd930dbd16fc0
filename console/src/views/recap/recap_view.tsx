import { useEffect, useState } from "preact/hooks";

import { type Draft, keepDraft, readDraft } from "../../data/draft.ts";
import { RECAPS_PAGE, watchLock, watchRecaps } from "../../data/recaps.ts";
import { Heading } from "../../ui/heading.tsx";
import { ShownList, useList, useLive } from "../../ui/live.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { Compose } from "./compose.tsx";
import { LockWords, RecapCard } from "./recap_card.tsx";
import { ScheduledNotice } from "./scheduled.tsx";

/** The next recap, the scheduled one, and the sent ones. */
export function RecapView() {
  const { sdk, eventId } = usePlace();
  const recaps = useList((part) => watchRecaps(sdk.db, eventId, part), RECAPS_PAGE, [sdk, eventId]);
  const lock = useLive(() => watchLock(sdk.db, eventId), [sdk, eventId]);
  // It stays with the event in this browser until it is sent.
  const [draft, setDraft] = useState<Draft>(() => readDraft(eventId));
  useEffect(() => keepDraft(eventId, draft), [draft]);
  // The outcome of the last action on the draft.
  const [told, setTold] = useState("");
  const hasRecap = Boolean(recaps.value?.items.length);
  return (
    <div class="column">
      <Heading title="Recap">Recap</Heading>
      <p class="quiet-text">
        Email every guest who left an address with an approved photo. Each guest gets one email at most; guests who opted out
        get none.
      </p>
      {lock.value && hasRecap && (
        <Notice kind={lock.value.isUnfinished ? "warning" : "info"}><LockWords lock={lock.value} /></Notice>
      )}
      <ScheduledNotice
        onEdit={(scheduled, words) => {
          setDraft(scheduled);
          setTold(words);
          document.getElementById("compose")?.scrollIntoView();
        }}
      />
      <Compose hasRecap={hasRecap} draft={draft} setDraft={setDraft} told={told} setTold={setTold} />
      <ShownList list={recaps} rows={3} label="Loading recaps…">
        {({ items }) => items.length
          ? items.map((recap, index) => <RecapCard key={recap.id} recap={recap} isLast={index === 0} />)
          : <Empty title="No recaps yet"><p>Recaps you send appear here, with what became of their emails.</p></Empty>}
      </ShownList>
    </div>
  );
}
