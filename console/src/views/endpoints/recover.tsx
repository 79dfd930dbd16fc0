import { useEffect, useRef, useState } from "preact/hooks";

import type { Foreseen } from "../../data/calls.ts";
import { DAY_MS } from "../../domain/health.ts";
import { fromInput, toInput } from "../../domain/time.ts";
import { count, leftAloneWords } from "../../domain/words.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Url } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

interface Props {
  readonly url: string;
  /** Since when there is something to recover, where that is known. */
  readonly from: Date | null;
  readonly onClose: () => void;
}

interface Progress {
  readonly resent: number;
  readonly leftAlone: number;
  readonly isDone: boolean;
}

/** Sends again what failed or was skipped since a time, once one has seen how many that are. */
export function Recover({ url, from, onClose }: Props) {
  const { calls } = usePlace();
  const [since, setSince] = useState(() => toInput(from ?? new Date(Date.now() - DAY_MS)));
  const [foreseen, setForeseen] = useState<Foreseen | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const counting = useWork();
  const sending = useWork();
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);

  const moment = fromInput(since);
  const leftAlone = foreseen && leftAloneWords(foreseen.leftAlone);
  const countThem = () =>
    counting.run(async () => {
      if (moment) setForeseen(await calls.foresee(url, moment));
    });
  useEffect(() => void countThem(), []);

  const send = () =>
    sending.run(async () => {
      if (!moment) return;
      let sum = { resent: 0, leftAlone: 0 };
      let next: string | null = null;
      do {
        const page = await calls.recover(url, moment, next);
        sum = { resent: sum.resent + page.resent, leftAlone: sum.leftAlone + page.leftAlone };
        next = page.next;
        setProgress({ ...sum, isDone: next === null });
      } while (next !== null && isOpen.current);
    });

  return (
    <Dialog title="Send again what failed" onClose={onClose}>
      <div class="stack">
        <p><Url url={url} full /></p>
        <div class="field">
          <label for="recover-since">Failed or skipped since</label>
          <input
            id="recover-since"
            type="datetime-local"
            value={since}
            onInput={(event) => {
              setSince(event.currentTarget.value);
              setForeseen(null);
              setProgress(null);
            }}
          />
        </div>
        {counting.error && <Notice kind="error">{counting.error}</Notice>}
        {foreseen && !progress && (
          <Notice kind={foreseen.matching ? "info" : "warning"}>
            <p>
              {foreseen.matching
                ? `${count(foreseen.matching, "delivery", "deliveries")} would be sent again, each with its own id and body.`
                : "There is nothing to send again since then."}
            </p>
            {leftAlone && <p>Left alone: {leftAlone}.</p>}
          </Notice>
        )}
        {progress && (
          <Notice kind={!progress.isDone ? "info" : progress.resent ? "success" : "warning"}>
            {count(progress.resent, "delivery is", "deliveries are")} on the way again
            {progress.leftAlone > 0 && <>, {progress.leftAlone.toLocaleString()} left alone{leftAlone && `: ${leftAlone}`}</>}
            {progress.isDone ? "." : " …"}
          </Notice>
        )}
        {sending.error && <Notice kind="error">{sending.error} What was sent so far stays sent.</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Close</button>
          {!foreseen ? (
            <ActionButton busy={counting.isBusy} kind="primary" onClick={countThem} disabled={!moment}>
              Count them
            </ActionButton>
          ) : (
            foreseen.matching > 0 && !progress?.isDone && (
              <ActionButton busy={sending.isBusy} kind="primary" onClick={send}>
                Send {count(foreseen.matching, "delivery", "deliveries")} again
              </ActionButton>
            )
          )}
        </div>
      </div>
    </Dialog>
  );
}
