import { OUTCOMES, type Outcome } from "../../domain/delivery.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import type { Filters } from "../../domain/filters.ts";
import { OUTCOME_WORDS } from "../../domain/words.ts";
import { Field } from "../../ui/form.tsx";

interface Props {
  readonly filters: Pick<Filters, "outcome" | "event">;
  readonly onChange: (change: Partial<Filters>) => void;
}

/** The choices that the page behind a link has too. */
export function KindFields({ filters: { outcome, event }, onChange }: Props) {
  return (
    <>
      <Field
        label="Outcome"
        value={outcome ?? ""}
        options={[["", "Any"], ...OUTCOMES.map((one) => [one, OUTCOME_WORDS[one]] as const)]}
        onChange={(value) => onChange({ outcome: (value || null) as Outcome | null })}
      />
      <Field
        label="What happened"
        value={event ?? ""}
        options={[["", "Any"], ...EVENT_TYPES.map((type) => [type, `${EVENT_WORDS[type]} (${type})`] as const)]}
        onChange={(value) => onChange({ event: (value || null) as EventType | null })}
      />
    </>
  );
}
