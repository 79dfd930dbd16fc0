// A list of deliveries with its filters and rows, in the room of receivers and behind a link.

import { useMemo } from "preact/hooks";

import { type Delivery, OUTCOMES, type Outcome, isOpen, lastAttempt } from "../../domain/delivery.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import type { Filters } from "../../domain/filters.ts";
import { duration } from "../../domain/time.ts";
import { OUTCOME_WORDS, attemptsWords, lastWords } from "../../domain/words.ts";
import { Field } from "../../ui/form.tsx";
import { EventWords, OutcomeBadge, Url } from "../../ui/text.tsx";
import { Countdown, When } from "../../ui/when.tsx";

interface KindProps {
  readonly filters: Pick<Filters, "outcome" | "event">;
  readonly onChange: (change: Partial<Filters>) => void;
}

/** Which outcome and which type. */
export function KindFields({ filters: { outcome, event }, onChange }: KindProps) {
  return (
    <>
      <Field
        label="Outcome"
        value={outcome ?? ""}
        options={[["", "Any"], ...OUTCOMES.map((one) => [one, OUTCOME_WORDS[one]] as const)]}
        onChange={(value) => onChange({ outcome: (value || null) as Outcome | null })}
      />
      <Field
        label="Event type"
        value={event ?? ""}
        options={[["", "Any"], ...EVENT_TYPES.map((type) => [type, `${EVENT_WORDS[type]} (${type})`] as const)]}
        onChange={(value) => onChange({ event: (value || null) as EventType | null })}
      />
    </>
  );
}

interface Props {
  readonly deliveries: readonly Delivery[];
  readonly linkOf: (delivery: Delivery) => string;
  readonly labels?: ReadonlyMap<string, string>;
  /** Whether the URL is the same in all rows, and so in none. */
  readonly isOneUrl?: boolean;
}

/** Deliveries, a row each. */
export function DeliveryRows({ deliveries, linkOf, labels, isOneUrl = false }: Props) {
  return (
    <ul class={`rows deliveries${isOneUrl ? " one-url" : ""}`} aria-label="Deliveries">
      {deliveries.map((one) => (
        <Row key={one.id} delivery={one} link={linkOf(one)} label={isOneUrl ? null : (labels?.get(one.endpointId ?? "") ?? "")} />
      ))}
    </ul>
  );
}

interface RowProps {
  readonly delivery: Delivery;
  readonly link: string;
  /** The endpoint's label; null if it is not shown. */
  readonly label: string | null;
}

// Drawn again only if a property has changed: a list may have hundreds of rows.
function Row({ delivery, link, label }: RowProps) {
  return useMemo(() => drawn({ delivery, link, label }), [delivery, link, label]);
}

function drawn({ delivery, link, label }: RowProps) {
  const last = lastAttempt(delivery);
  return (
    <li data-id={delivery.id}>
      <span><OutcomeBadge outcome={delivery.outcome} /></span>
      <a class="whole" href={link}>
        <EventWords type={delivery.event} />
        {delivery.test && <span class="badge">test</span>}
        {delivery.round > 0 && <span class="badge" title="Resent by an organizer">resent</span>}
      </a>
      {label !== null && <span class="where"><Url url={delivery.url} label={label} /></span>}
      <span class="answer">
        <bdi>{lastWords(delivery)}</bdi>
        {isOpen(delivery) && delivery.nextAttemptAt && <span class="doubt">due <Countdown to={delivery.nextAttemptAt} /></span>}
        {delivery.attempts > 0 && <span class="quiet-text">{attemptsWords(delivery)}{last && `, ${duration(last.ms)}`}</span>}
      </span>
      <span class="quiet-text when"><When at={delivery.createdAt} /></span>
    </li>
  );
}
