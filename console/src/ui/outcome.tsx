import type { Outcome } from "../domain/delivery.ts";
import { OUTCOME_WORDS } from "../domain/words.ts";
import { OutcomeIcon } from "./icons.tsx";

/** How a delivery stands: shape, word and colour. */
export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`badge ${outcome}`}>
      <OutcomeIcon outcome={outcome} />
      {OUTCOME_WORDS[outcome]}
    </span>
  );
}
