import { useEffect, useId, useState } from "preact/hooks";

import { type Endpoint, type Recovery, recoveryOf, switchOff, switchOn } from "../../data/endpoints.ts";
import { writeRoute } from "../../domain/address.ts";
import type { Outcome } from "../../domain/delivery.ts";
import { nameOf, problem } from "../../domain/endpoint.ts";
import { EVENT_WORDS } from "../../domain/event_type.ts";
import { NO_FILTERS } from "../../domain/filters.ts";
import { type Health, rateOf, successRate } from "../../domain/health.ts";
import { duration } from "../../domain/time.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { CrossIcon, OutcomeIcon } from "../../ui/icons.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign, Url } from "../../ui/text.tsx";
import { Ago, When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { EndpointDialog } from "./edit.tsx";
import { Recover } from "./recover.tsx";
import { RemoveDialog } from "./remove.tsx";
import { TestDialog } from "./test.tsx";

interface Props {
  readonly endpoint: Endpoint;
  readonly others: readonly Endpoint[];
  readonly mayEdit: boolean;
  /** Null until it is known. */
  readonly health: KnownHealth | null;
  readonly reload: () => void;
}

/** How a URL is doing, or why that is not known. */
export type KnownHealth = { readonly health: Health } | { readonly error: unknown };

type Open = "" | "edit" | "remove" | "test" | "recover";

/** One URL. */
export function EndpointCard({ endpoint, others, mayEdit, health: known, reload }: Props) {
  const { sdk, eventId } = usePlace();
  const { url, events, label, disabled, offSince } = endpoint;
  const [open, setOpen] = useState<Open>("");
  const [recoverFrom, setRecoverFrom] = useState<Date | null>(null);
  const health = known && "health" in known ? known.health : null;
  const work = useWork();
  const id = useId();
  const close = () => setOpen("");
  const log = (outcome: Outcome | null) => writeRoute({
    at: "deliveries",
    eventId,
    filters: { ...NO_FILTERS, endpoint: nameOf(url), outcome },
    deliveryId: null,
    status: "pending",
  });
  const unusable = problem(url);
  const isOff = disabled !== null || offSince !== null;

  // What happened meanwhile is offered to be sent.
  async function switchItOn() {
    const since = [disabled?.at, offSince].filter((one) => one instanceof Date);
    await switchOn(sdk.db, eventId, endpoint);
    setRecoverFrom(since.reduce<Date | null>((first, one) => (first && first < one ? first : one), null));
    setOpen("recover");
  }

  return (
    <section class="card endpoint" aria-labelledby={id}>
      <div class="endpoint-head">
        <h2 id={id}>{label && <><Foreign>{label}</Foreign> </>}<Url url={url} /></h2>
        <p class="quiet-text mono" title="The URL's name in notices and on the receiver's page">{nameOf(url)}</p>
        {isOff && <span class={`badge ${disabled ? "failed" : "skipped"}`}><OutcomeIcon outcome={disabled ? "failed" : "skipped"} />Switched off</span>}
      </div>
      <p class="types">
        {events === null
          ? <span class="tag">everything</span>
          : events.length
            ? events.map((type) => <span key={type} class="tag" title={type}>{EVENT_WORDS[type]}</span>)
            : <span class="tag">nothing</span>}
      </p>
      {isOff && (
        <Notice kind={disabled ? "error" : "info"}>
          <p>
            Nothing is sent there{disabled && <>: <bdi>{disabled.reason || "it was switched off"}</bdi></>}
            <Since at={disabled?.at ?? offSince} />. What happens meanwhile is recorded as skipped.
          </p>
          {mayEdit
            ? <ActionButton busy={work.isBusy} onClick={() => work.run(switchItOn)}>Switch it on again</ActionButton>
            : <p>An admin can switch it on again.</p>}
        </Notice>
      )}
      {unusable && <Notice kind="warning">Nothing can be delivered there. {unusable}</Notice>}
      {work.error && <Notice kind="error">{work.error}</Notice>}
      {known && "error" in known ? <Notice kind="error">{wordsOf(known.error)}</Notice> : <HealthLine health={health} />}
      {endpoint.recover && <StandingOrder url={url} />}
      <div class="actions" role="group" aria-labelledby={id}>
        <a class="button" href={log(null)}>Deliveries</a>
        {health !== null && health.failed > 0 && <a class="button" href={log("failed")}>Failed ones</a>}
        <button type="button" onClick={() => setOpen("test")}>Send a test</button>
        {!unusable && !isOff && (
          <button
            type="button"
            onClick={() => {
              setRecoverFrom(health?.failingSince ?? null);
              setOpen("recover");
            }}
          >
            Send failed ones again…
          </button>
        )}
        {mayEdit && <button type="button" onClick={() => setOpen("edit")}>Edit</button>}
        {mayEdit && !isOff && (
          <ActionButton busy={work.isBusy} onClick={() => work.run(() => switchOff(sdk.db, eventId, endpoint))}>Switch off</ActionButton>
        )}
        {mayEdit && <button type="button" class="quiet danger" onClick={() => setOpen("remove")}>Remove</button>}
      </div>
      {open === "edit" && <EndpointDialog before={endpoint} others={others} onClose={close} />}
      {open === "remove" && <RemoveDialog endpoint={endpoint} onClose={close} />}
      {open === "test" && <TestDialog endpoint={endpoint} onClose={() => { close(); reload(); }} />}
      {open === "recover" && <Recover url={url} from={recoverFrom} onClose={() => { close(); reload(); }} />}
    </section>
  );
}

function Since({ at }: { readonly at: Date | null }) {
  return at && at.getTime() > 0 ? <> (since <When at={at} long />)</> : null;
}

function StandingOrder({ url }: { readonly url: string }) {
  const { sdk, eventId } = usePlace();
  const [recovery, setRecovery] = useState<Recovery | null>(null);
  useEffect(() => {
    let isWanted = true;
    // Without an answer the order itself is shown, and not what it did.
    recoveryOf(sdk.db, eventId, url).then((found) => isWanted && setRecovery(found), () => undefined);
    return () => {
      isWanted = false;
    };
  }, [sdk, eventId, url]);
  return (
    <p class="quiet-text">
      Failed ones are sent again by themselves once the receiver answers.
      {recovery?.ranAt && <> So far {recovery.resent.toLocaleString()}, last <Ago at={recovery.ranAt} />.</>}
      {recovery?.isWaiting && " It waits for an answer now."}
    </p>
  );
}

function HealthLine({ health }: { readonly health: Health | null }) {
  if (!health) return <div class="health skeleton" role="status"><span class="unseen">Loading…</span><div class="bar" /></div>;
  const rate = successRate(health);
  const { median, slowest, sample, lastSuccess, failingSince } = health;
  return (
    <dl class="health">
      <div>
        <dt>Last 24 hours</dt>
        <dd>
          {rate === null ? "nothing ended" : <><strong>{rate}</strong> delivered</>}
          {rate !== null && (
            <span class="quiet-text"> {rateOf(health)}</span>
          )}
        </dd>
      </div>
      <div>
        <dt>Answers in</dt>
        <dd>
          {median === null || slowest === null ? "–" : (
            <>
              <strong>{duration(median)}</strong>
              <span class="quiet-text"> median, slowest {duration(slowest)}, of the last {sample}</span>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Last success</dt>
        <dd>{lastSuccess ? <Ago at={lastSuccess} /> : "none on record"}</dd>
      </div>
      {failingSince && (
        <div class="failing">
          <dt><CrossIcon /> Failing since</dt>
          <dd><strong><Ago at={failingSince} /></strong></dd>
        </div>
      )}
    </dl>
  );
}
