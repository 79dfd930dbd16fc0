import { useState } from "preact/hooks";

import type { Delivery } from "../../domain/delivery.ts";
import { count } from "../../domain/words.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";

interface Done {
  readonly sent: number;
  /** Of the deliveries that were not sent: what was said, and how often. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Sends again the failed deliveries that are in sight, one call each; which can be sent is told by the calls. */
export function ResendShown({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const { calls } = usePlace();
  const [done, setDone] = useState<Done | null>(null);
  const work = useWork();
  const open = deliveries.filter(({ test }) => !test);

  const send = () =>
    work.run(async () => {
      setDone(null);
      const refused = new Map<string, number>();
      let sent = 0;
      for (const { id } of open) {
        try {
          await calls.resend(id);
          sent += 1;
        } catch (error) {
          const words = wordsOf(error);
          refused.set(words, (refused.get(words) ?? 0) + 1);
        }
        setDone({ sent, refused });
      }
    });

  if (!open.length && !done) return null;
  return (
    <div class="stack resend-shown">
      {open.length > 0 && (
        <div class="actions">
          <ActionButton busy={work.isBusy} onClick={send} slow="One after the other …">
            {open.length === 1 ? "Send this one again" : `Send these ${open.length.toLocaleString()} again`}
          </ActionButton>
        </div>
      )}
      {done && (
        <Notice kind={done.refused.size ? "warning" : "success"}>
          <p>{count(done.sent, "delivery is", "deliveries are")} on the way again.</p>
          {[...done.refused].map(([words, number]) => <p key={words}>{number.toLocaleString()} left alone: {words}</p>)}
        </Notice>
      )}
    </div>
  );
}
