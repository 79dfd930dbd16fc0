import type { Recap } from "../../data/recaps.ts";
import { duration } from "../../domain/time.ts";
import { CrossIcon, OutcomeIcon, TickIcon, WarningIcon } from "../../ui/icons.tsx";
import { When } from "../../ui/when.tsx";

interface State {
  readonly words: string;
  readonly looks: string;
  readonly icon: preact.JSX.Element;
}

const STATES: Readonly<Record<string, State>> = {
  sending: { words: "Sending", looks: "retrying", icon: <OutcomeIcon outcome="retrying" /> },
  sent: { words: "Sent", looks: "success", icon: <TickIcon /> },
  interrupted: { words: "Interrupted", looks: "failed", icon: <WarningIcon /> },
  failed: { words: "Failed", looks: "failed", icon: <CrossIcon /> },
  empty: { words: "Nobody to send to", looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> },
};

/** One recap, moving as its batches complete. */
export function RecapCard({ recap }: { readonly recap: Recap }) {
  const { mode, state, startedAt, finishedAt, recipients, sent, unknown, skipped, left, told } = recap;
  const shown = STATES[state] ?? { words: state, looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> };
  return (
    <section class="card" aria-label={`Recap, ${shown.words}`}>
      <div class="sheet-head">
        <h2>{startedAt ? <When at={startedAt} long /> : "Not begun"}</h2>
        <span class={`badge ${shown.looks}`}>{shown.icon}{shown.words}</span>
        <span class="tag">{mode === "all" ? "highlights for all" : "own photos"}</span>
      </div>
      {state === "sending" && recipients > 0 && (
        <progress max={recipients} value={sent} aria-label="Mails sent">{sent} of {recipients}</progress>
      )}
      <dl class="figures">
        <Figure name="Sent" value={sent} />
        <Figure name="Skipped" value={skipped} />
        <Figure name="Left" value={left} />
        {unknown > 0 && <Figure name="Of those sent, not confirmed" value={unknown} />}
        {told && (
          <>
            <Figure name="Arrived" value={told.delivered} />
            <Figure name="Bounced" value={told.bounced} />
            <Figure name="Dropped" value={told.dropped} />
            <Figure name="Complaints" value={told.complained} />
          </>
        )}
      </dl>
      {startedAt && finishedAt && (
        <p class="quiet-text">Took {duration(finishedAt.getTime() - startedAt.getTime())}.</p>
      )}
    </section>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value.toLocaleString()}</dd>
    </div>
  );
}
