import { useMemo } from "preact/hooks";

import { type Delivery, isOpen, lastAttempt } from "../../domain/delivery.ts";
import { duration } from "../../domain/time.ts";
import { attemptsWords, lastWords } from "../../domain/words.ts";
import { EventWords } from "../../ui/event_words.tsx";
import { OutcomeBadge } from "../../ui/outcome.tsx";
import { Url } from "../../ui/text.tsx";
import { Countdown, When } from "../../ui/when.tsx";

interface Props {
  readonly deliveries: readonly Delivery[];
  readonly linkOf: (delivery: Delivery) => string;
  readonly labels?: ReadonlyMap<string, string>;
  /** Whether the URL is the same in all rows, and so in none. */
  readonly isOneUrl?: boolean;
  readonly openId?: string | null;
}

/**
 * Deliveries, a row each. A grid with the roles of a table: rows out of sight cost nothing to lay
 * out, and on a phone a row becomes a card.
 */
export function DeliveryTable({ deliveries, linkOf, labels, isOneUrl = false, openId = null }: Props) {
  return (
    <div class={`table deliveries${isOneUrl ? " one-url" : ""}`} role="table" aria-label="Deliveries">
      <div role="rowgroup">
        <div class="row head" role="row">
          <span role="columnheader">Time</span>
          <span role="columnheader">What happened</span>
          {!isOneUrl && <span role="columnheader">Receiver</span>}
          <span role="columnheader">Outcome</span>
          <span role="columnheader">Attempts</span>
          <span role="columnheader">Last answer</span>
          <span role="columnheader" class="number">Took</span>
        </div>
      </div>
      <div role="rowgroup" class="body">
        {deliveries.map((one) => (
          <Row key={one.id} delivery={one} link={linkOf(one)} label={labels?.get(one.url) ?? ""} isOneUrl={isOneUrl} isOpened={one.id === openId} />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  readonly delivery: Delivery;
  readonly link: string;
  readonly label: string;
  readonly isOneUrl: boolean;
  readonly isOpened: boolean;
}

// Drawn again only where a property has changed: a list may have hundreds of rows.
function Row({ delivery, link, label, isOneUrl, isOpened }: RowProps) {
  return useMemo(() => drawn({ delivery, link, label, isOneUrl, isOpened }), [delivery, link, label, isOneUrl, isOpened]);
}

function drawn({ delivery, link, label, isOneUrl, isOpened }: RowProps) {
  const last = lastAttempt(delivery);
  return (
    <div class="row" role="row" data-id={delivery.id} aria-current={isOpened ? "true" : undefined}>
      <span role="cell" class="time">
        <a class="whole" href={link}>
          <When at={delivery.createdAt} />
        </a>
      </span>
      <span role="cell" class="type">
        <EventWords type={delivery.event} />
        {delivery.test && <span class="tag">test</span>}
      </span>
      {!isOneUrl && (
        <span role="cell" class="where">
          <Url url={delivery.url} label={label} />
        </span>
      )}
      <span role="cell" class="outcome">
        <OutcomeBadge outcome={delivery.outcome} />
      </span>
      <span role="cell" class="attempts">
        {attemptsWords(delivery)}
        {delivery.round > 0 && <span class="tag" title="Sent again by an organizer">again</span>}
      </span>
      <span role="cell" class="answer">
        <bdi>{lastWords(delivery)}</bdi>
        {isOpen(delivery) && delivery.nextAttemptAt && (
          <span class="next">due <Countdown to={delivery.nextAttemptAt} /></span>
        )}
      </span>
      <span role="cell" class="number took">{last ? duration(last.ms) : ""}</span>
    </div>
  );
}
