import type { ComponentChildren } from "preact";

import { visible } from "../../domain/body.ts";
import { headers } from "../../domain/curl.ts";
import { ATTEMPTS, type Delivery, isOpen } from "../../domain/delivery.ts";
import { eventWords } from "../../domain/event_type.ts";
import { duration } from "../../domain/time.ts";
import { type Round, type Step, timeline } from "../../domain/timeline.ts";
import { attemptWords } from "../../domain/words.ts";
import { diagnosis, verdict } from "../../domain/verdict.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { Heading } from "../../ui/heading.tsx";
import { BackIcon, CrossIcon, TickIcon } from "../../ui/icons.tsx";
import { Notice } from "../../ui/notice.tsx";
import { EventWords, OutcomeBadge, Url } from "../../ui/text.tsx";
import { Countdown, When } from "../../ui/when.tsx";
import { BodyPanel } from "./body.tsx";

interface Props {
  readonly delivery: Delivery;
  readonly eventId: string;
  /** Address of the list. */
  readonly back: string;
  readonly backWords?: string;
  /** Its actions. */
  readonly children: ComponentChildren;
}

/** Everything recorded about a delivery. */
export function DeliverySheet({ delivery, eventId, back, backWords = "All deliveries", children }: Props) {
  const rounds = timeline(delivery);
  const told = verdict(delivery);
  return (
    <article class="column">
      <p class="back">
        <a href={back}><BackIcon /><bdi>{backWords}</bdi></a>
      </p>
      <div class="head">
        <Heading title={eventWords(delivery.event)}>
          <EventWords type={delivery.event} />
          {delivery.test && <span class="badge">test</span>}
        </Heading>
        <OutcomeBadge outcome={delivery.outcome} />
      </div>
      {told && <Notice kind={told.turn === "nobody" ? "success" : "warning"}>{told.words}</Notice>}
      {children}
      <dl class="facts">
        <Fact name="URL"><Url url={delivery.url} full /></Fact>
        <Fact name="Delivery ID">
          <code class="foreign">{delivery.id}</code> <CopyButton label="Copy" text={() => delivery.id} />
        </Fact>
        <Fact name="Created"><When at={delivery.createdAt} long /></Fact>
        {delivery.endedAt && <Fact name="Ended"><When at={delivery.endedAt} long /></Fact>}
        {isOpen(delivery) && delivery.nextAttemptAt && (
          <Fact name="Next attempt"><Countdown to={delivery.nextAttemptAt} /></Fact>
        )}
      </dl>

      <div class="two">
        <section aria-labelledby="attempts">
          <h2 id="attempts">Attempts</h2>
          {rounds.length === 0 && <p class="quiet-text">No attempts{isOpen(delivery) ? " yet" : ""}.</p>}
          {rounds.map((round) => (
            <RoundList key={round.number} round={round} isOnly={rounds.length === 1 && round.number === 0} />
          ))}
          {isOpen(delivery) && delivery.nextAttemptAt && (
            <p class="quiet-text">
              Attempt {delivery.attempts + 1} of {ATTEMPTS} <Countdown to={delivery.nextAttemptAt} />
            </p>
          )}
        </section>
        <div class="column">
          <BodyPanel body={delivery.body} />
          <HeadersPanel delivery={delivery} eventId={eventId} />
        </div>
      </div>
    </article>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RoundList({ round, isOnly }: { readonly round: Round; readonly isOnly: boolean }) {
  return (
    <>
      {!isOnly && (
        <h3>{round.number === 0 ? "First delivery" : `Resend ${round.number}`}</h3>
      )}
      <ol class="timeline">
        {round.steps.map((step) => <StepItem key={step.attempt.attempt} step={step} />)}
      </ol>
    </>
  );
}

function StepItem({ step: { attempt, waited, isAcknowledged } }: { readonly step: Step }) {
  const hint = isAcknowledged ? "" : diagnosis(attempt).advice;
  return (
    <li>
      {waited !== null && <p class="waited">waited {duration(waited)}</p>}
      <div class="step">
        <span class={`mark ${isAcknowledged ? "success" : "failed"}`}>{isAcknowledged ? <TickIcon /> : <CrossIcon />}</span>
        <div>
          <p>
            <span class="unseen">Attempt {attempt.attempt}, {isAcknowledged ? "delivered" : "failed"}: </span>
            <strong><bdi>{attemptWords(attempt)}</bdi></strong>
          </p>
          <p class="quiet-text">
            Attempt {attempt.attempt} · <When at={attempt.at} /> · took {duration(attempt.ms)}
          </p>
          {hint && <p class="quiet-text">{hint}</p>}
          {attempt.answer && (
            <details>
              <summary>Response body</summary>
              <pre tabIndex={0} dir="ltr" aria-label={`Response to attempt ${attempt.attempt}`}>{visible(attempt.answer)}</pre>
            </details>
          )}
        </div>
      </div>
    </li>
  );
}

function HeadersPanel({ delivery, eventId }: Pick<Props, "delivery" | "eventId">) {
  const shown = [
    ...headers(delivery, eventId),
    ["Wall-Signature", "t=…,v1=… (regenerated for each attempt)"] as const,
    ["webhook-id", delivery.id] as const,
    ["webhook-timestamp, webhook-signature", "regenerated for each attempt (Standard Webhooks)"] as const,
  ];
  return (
    <section class="card" aria-labelledby="headers">
      <h2 id="headers">Headers</h2>
      <dl class="facts">{shown.map(([name, value]) => <Fact key={name} name={name}><bdi class="mono">{value}</bdi></Fact>)}</dl>
    </section>
  );
}
