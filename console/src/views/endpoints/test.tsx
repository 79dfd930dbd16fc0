import { useState } from "preact/hooks";

import type { TestResult } from "../../data/calls.ts";
import type { Endpoint } from "../../data/endpoints.ts";
import { linkToDelivery } from "../../domain/address.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import { duration } from "../../domain/time.ts";
import { attemptWords } from "../../domain/words.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Url } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

interface Props {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

/** A made-up message of a type, and what the receiver said to it. */
export function TestDialog({ endpoint, onClose }: Props) {
  const { calls, eventId } = usePlace();
  const [type, setType] = useState<EventType>(endpoint.events?.[0] ?? "photo.uploaded");
  const [result, setResult] = useState<TestResult | null>(null);
  const work = useWork();
  const send = () =>
    work.run(async () => {
      setResult(null);
      setResult(await calls.test(endpoint.url, type));
    });
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <div class="stack">
        <p><Url url={endpoint.url} full /></p>
        <div class="field">
          <label for="test-type">What it tells</label>
          <select id="test-type" value={type} onChange={(event) => setType(event.currentTarget.value as EventType)}>
            {EVENT_TYPES.map((eventType) => <option key={eventType} value={eventType}>{EVENT_WORDS[eventType]} ({eventType})</option>)}
          </select>
          <p class="quiet-text">A made-up message, signed like a real one. It tells of nobody, and is sent to a URL that is switched off too.</p>
        </div>
        {result && <Result result={result} link={linkToDelivery(eventId, result.deliveryId)} />}
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Close</button>
          <ActionButton busy={work.isBusy} kind="primary" onClick={send}>{result ? "Send another" : "Send"}</ActionButton>
        </div>
      </div>
    </Dialog>
  );
}

function Result({ result, link }: { readonly result: TestResult; readonly link: string }) {
  const { outcome, ms } = result;
  const isGood = outcome === "success";
  return (
    <Notice kind={isGood ? "success" : "warning"}>
      <p>
        <strong>{isGood ? "Delivered" : outcome === "skipped" ? "Not sent" : "Not acknowledged"}</strong>:{" "}
        <bdi>{attemptWords(result)}</bdi>{ms !== null && <> in {duration(ms)}</>}.
        {result.nextAttemptAt && " It is tried again like any other delivery."}
      </p>
      <p><a href={link}>Look at it</a></p>
    </Notice>
  );
}
