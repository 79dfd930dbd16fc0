import { useState } from "preact/hooks";

import { type Planned, watchPlanned } from "../../data/recaps.ts";
import { zone } from "../../domain/time.ts";
import { Ask } from "../../ui/form.tsx";
import { useLive } from "../../ui/live.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";

/** What is planned, or why it did not go out; nothing where the recaps themselves tell. */
export function PlannedWords() {
  const { sdk, eventId } = usePlace();
  const { value } = useLive(() => watchPlanned(sdk.db, eventId), [sdk, eventId]);
  return value && isTold(value) ? <Words planned={value} /> : null;
}

/** The same as a notice; what is planned can be taken back. */
export function PlannedNotice() {
  const { sdk, eventId, calls } = usePlace();
  const { value } = useLive(() => watchPlanned(sdk.db, eventId), [sdk, eventId]);
  const [isAsking, setAsking] = useState(false);
  if (!value || !isTold(value)) return null;
  const isPlanned = value.state === "scheduled";
  return (
    <Notice kind={isPlanned ? "info" : "warning"}>
      <Words planned={value} />
      {isPlanned && <> <button type="button" onClick={() => setAsking(true)}>Take back…</button></>}
      {isAsking && isPlanned && (
        <Ask title="Take the planned recap back?" action="Take back" close="Keep it" run={async () => void (await calls.plan(null, null))} onClose={() => setAsking(false)}>
          <p>No mail is sent then. You can plan it again.</p>
        </Ask>
      )}
    </Notice>
  );
}

function isTold({ state }: Planned): boolean {
  return state === "scheduled" || state === "failed";
}

function Words({ planned: { at, state, by, reason } }: { readonly planned: Planned }) {
  return state === "scheduled"
    ? <>A recap is planned for <When at={at} long /> ({zone()}), by <Foreign>{by}</Foreign>.</>
    : <>The recap that was planned for <When at={at} long /> did not go out: <Foreign>{reason}</Foreign></>;
}
