import { useEffect, useRef, useState } from "preact/hooks";

import type { Foreseen, TestResult } from "../../data/calls.ts";
import { newId, saveEndpoint } from "../../data/endpoints.ts";
import { linkTo } from "../../domain/address.ts";
import type { Delivery } from "../../domain/delivery.ts";
import { type Endpoint, MAX_LABEL_CHARACTERS, callName, doubt, problem } from "../../domain/endpoint.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import { DAY_MS } from "../../domain/health.ts";
import { LANGUAGE, duration, fromInput, toInput } from "../../domain/time.ts";
import { attemptWords, count, leftAloneWords } from "../../domain/words.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Ask, Check, Field } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Url } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

interface EndpointProps {
  /** The receiver that is changed; null for a new one. */
  readonly before: Endpoint | null;
  readonly others: readonly Endpoint[];
  readonly onClose: () => void;
  /** Called with the URL if it has changed or recovery was turned on; returns whether another dialog replaces this one. */
  readonly onSaved?: (url: string) => boolean;
  /** Called with the id of a new endpoint. */
  readonly onAdded?: (id: string) => void;
}

/** The settings of an endpoint; problems are shown before they are saved. */
export function EndpointDialog({ before, others, onClose, onSaved, onAdded }: EndpointProps) {
  const { sdk, eventId } = usePlace();
  const [url, setUrl] = useState(before?.url ?? "");
  const [label, setLabel] = useState(before?.label ?? "");
  const [isAll, setAll] = useState(!before || before.events === null);
  const [events, setEvents] = useState<readonly EventType[]>(before?.events ?? []);
  const [recover, setRecover] = useState(before?.recover ?? true);
  const [isTried, setTried] = useState(false);

  const given = url.trim();
  const isOld = before !== null && given === before.url;
  const isTaken = others.some((one) => one.url === given && one.id !== before?.id);
  const urlProblem = isTaken ? "This event already has an endpoint with this URL." : problem(url);
  const typesProblem = isAll || events.length ? null : "Select at least one event.";

  async function save() {
    setTried(true);
    // A URL that was there before may stay, be it unusable.
    if ((urlProblem && !isOld) || typesProblem) return "stay";
    const { id, offSince } = before ?? { id: newId(), offSince: null };
    // A URL that was corrected is not given up.
    const disabled = isOld ? before.disabled : null;
    const chosen = EVENT_TYPES.filter((one) => events.includes(one));
    await saveEndpoint(sdk.db, eventId, { id, url: given, events: isAll ? null : chosen, unknownEvents: [], recover, label: label.trim(), offSince, disabled });
    if (!before) onAdded?.(id);
    const isNews = before && (!isOld || (recover && !before.recover));
    return isNews && onSaved?.(given) ? "stay" : undefined;
  }

  return (
    <Ask title={before ? "Edit endpoint" : "Add endpoint"} action="Save" run={save} onClose={onClose}>
      <Field
        label="URL"
        type="url"
        value={url}
        placeholder="https://"
        focus
        onChange={setUrl}
        problem={isTried || (given && !isOld) ? urlProblem : null}
        doubt={urlProblem ? null : doubt(url)}
        hint={"Must start with https://. Don't put keys in the URL; verify the signature instead."}
      />
      <Field label="Name (optional)" value={label} max={MAX_LABEL_CHARACTERS} placeholder="Screen in the hall" onChange={setLabel} />
      <fieldset class="stack-tight">
        <legend class="label">Events to send</legend>
        <Check name="chosen" isOn={isAll} onChange={() => setAll(true)}>All events except deletions</Check>
        <Check name="chosen" isOn={!isAll} onChange={() => setAll(false)}>Selected events</Check>
        {!isAll && (
          <div class="type-choice">
            {EVENT_TYPES.map((type) => (
              <Check key={type} isOn={events.includes(type)} onChange={(isOn) => setEvents(isOn ? [...events, type] : events.filter((one) => one !== type))}>
                {EVENT_WORDS[type]} <span class="quiet-text mono">{type}</span>
              </Check>
            ))}
          </div>
        )}
        {isTried && typesProblem && <p class="field-error" role="alert">{typesProblem}</p>}
      </fieldset>
      <Check isOn={recover} onChange={setRecover}>
        Automatically resend failed deliveries <span class="quiet-text">from the last 24 hours once the endpoint recovers. Only applies to outages that start after you turn this on.</span>
      </Check>
      {before && !isOld && <Notice>After saving, you can resend failed deliveries to the new URL.</Notice>}
    </Ask>
  );
}

interface Props {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

/** Sends a sample event of a type and shows the response. */
export function TestDialog({ endpoint, onClose }: Props) {
  const { calls, eventId } = usePlace();
  const [type, setType] = useState<string>(endpoint.events?.[0] ?? "photo.uploaded");
  const [result, setResult] = useState<TestResult | null>(null);
  const send = async () => {
    setResult(null);
    setResult(await calls.test(endpoint.url, type as EventType));
    return "stay" as const;
  };
  return (
    <Ask title="Send a test" action={result ? "Send another" : "Send"} run={send} onClose={onClose} close="Close">
      <p><Url url={endpoint.url} full /></p>
      <Field
        label="Event type"
        value={type}
        onChange={setType}
        options={EVENT_TYPES.map((one) => [one, `${EVENT_WORDS[one]} (${one})`])}
        hint="Sends a signed sample event. It contains no guest data, and works even if the endpoint is off."
      />
      {result && (
        <Notice kind={result.outcome === "success" ? "success" : "warning"}>
          <p>
            <strong>{result.outcome === "success" ? "Delivered" : result.outcome === "skipped" ? "Not sent" : "Failed"}</strong>:{" "}
            <bdi>{attemptWords(result)}</bdi>{result.ms !== null && <> in {duration(result.ms)}</>}.
            {result.nextAttemptAt && " It will be retried like any other delivery."}
          </p>
          <p><a href={linkTo("receivers", eventId, { deliveryId: result.deliveryId, endpointId: endpoint.id })}>View delivery</a></p>
        </Notice>
      )}
    </Ask>
  );
}

/** The outcome of a resend: how many deliveries, and why others were not included. */
function Resent({ sent, left }: { readonly sent: number; readonly left: readonly string[] }) {
  return (
    <Notice kind={sent ? "success" : "warning"}>
      <p>{count(sent, "delivery", "deliveries")} queued for resending.</p>
      {left.map((words) => <p key={words}>Not included: {words}</p>)}
    </Notice>
  );
}

interface RecoverProps {
  readonly url: string;
  readonly from: Date | null;
  readonly onClose: () => void;
}

/** Resends deliveries that failed or were skipped since a time, after showing their number. */
export function RecoverDialog({ url, from, onClose }: RecoverProps) {
  const { calls } = usePlace();
  const [since, setSince] = useState(() => toInput(from ?? new Date(Date.now() - DAY_MS)));
  const [foreseen, setForeseen] = useState<Foreseen | null>(null);
  const [sent, setSent] = useState(0);
  const [error, setError] = useState("");
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const moment = fromInput(since);
  const leftAlone = foreseen && leftAloneWords(foreseen.leftAlone);
  const look = async () => {
    if (moment) setForeseen(await calls.foresee(url, moment));
    return "stay" as const;
  };
  useEffect(() => void look().then(() => setError(""), (caught: unknown) => setError(wordsOf(caught))), [url]);

  const send = async () => {
    if (!moment || !foreseen) return look();
    let [resent, left] = [0, 0];
    let next: string | null = null;
    do {
      const page = await calls.recover(url, moment, next);
      resent += page.resent;
      left += page.leftAlone;
      next = page.next;
      setSent(resent);
    } while (next !== null && isOpen.current);
    return <Resent sent={resent} left={left ? [`${left.toLocaleString(LANGUAGE)}${leftAlone && ` (${leftAlone})`}.`] : []} />;
  };

  return (
    <Ask
      title="Resend failed deliveries"
      action={foreseen ? `Resend ${count(foreseen.matching, "delivery", "deliveries")}` : "Check"}
      run={send}
      onClose={onClose}
      disabled={!moment}
      isDone={foreseen?.matching === 0}
      slow={`${count(sent, "delivery", "deliveries")} queued…`}
    >
      <p><Url url={url} full /></p>
      <Field
        label="Failed or skipped since"
        type="datetime-local"
        value={since}
        onChange={(value) => {
          setSince(value);
          setForeseen(null);
        }}
      />
      {error && !foreseen && <Notice kind="error">{error}</Notice>}
      {foreseen && (
        <Notice kind={foreseen.matching ? "info" : "warning"}>
          <p>
            {foreseen.matching
              ? `${count(foreseen.matching, "delivery", "deliveries")} will be resent with ${foreseen.matching === 1 ? "its" : "their"} original ID and body.`
              : "No failed or skipped deliveries since that time."}
          </p>
          {leftAlone && <p>Not included: {leftAlone}.</p>}
        </Notice>
      )}
    </Ask>
  );
}

interface ResendProps {
  /** The deliveries that were shown when it was asked for. */
  readonly deliveries: readonly Delivery[];
  readonly labels: ReadonlyMap<string, string>;
  readonly onClose: () => void;
}

/** Resends the failed deliveries on this page, and no others, after a confirmation. */
export function ResendDialog({ deliveries, labels, onClose }: ResendProps) {
  const { calls } = usePlace();
  const receivers = new Set(deliveries.map(({ url, endpointId }) => callName({ url, label: labels.get(endpointId ?? "") ?? "" })));
  const send = async () => {
    // The reasons why deliveries were not resent, with their counts.
    const refused = new Map<string, number>();
    // The oldest first: the list has the newest first.
    for (const { id } of [...deliveries].sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime())) {
      const said = await calls.resend(id).then(() => "", wordsOf);
      if (said) refused.set(said, (refused.get(said) ?? 0) + 1);
    }
    const left = [...refused].map(([words, number]) => `${number.toLocaleString(LANGUAGE)}. ${words}`);
    return <Resent sent={deliveries.length - [...refused.values()].reduce((sum, number) => sum + number, 0)} left={left} />;
  };
  return (
    <Ask
      title={`Resend ${count(deliveries.length, "delivery", "deliveries")}?`}
      action="Resend"
      run={send}
      onClose={onClose}
      slow="Resending…"
    >
      <p>To {count(receivers.size, "endpoint", "endpoints")}:</p>
      <ul>{[...receivers].map((name) => <li key={name}><bdi>{name}</bdi></li>)}</ul>
    </Ask>
  );
}
