import { useId, useState } from "preact/hooks";

import { type Endpoint, saveEndpoint } from "../../data/endpoints.ts";
import { MAX_LABEL_CHARACTERS, MAX_URLS, MAX_URL_BYTES, doubt, problem } from "../../domain/endpoint.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType } from "../../domain/event_type.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";

interface Props {
  /** The one that is changed; null for a new one. */
  readonly before: Endpoint | null;
  readonly others: readonly Endpoint[];
  readonly onClose: () => void;
}

/** A URL and the messages for it; what cannot be saved is told before. */
export function EndpointDialog({ before, others, onClose }: Props) {
  const { sdk, eventId } = usePlace();
  const [url, setUrl] = useState(before?.url ?? "");
  const [label, setLabel] = useState(before?.label ?? "");
  const [isAll, setAll] = useState(!before || before.events === null);
  const [events, setEvents] = useState<readonly EventType[]>(before?.events ?? []);
  const [recover, setRecover] = useState(before?.recover ?? false);
  const [isTried, setTried] = useState(false);
  const work = useWork();
  const id = useId();

  const given = url.trim();
  const isTaken = others.some((one) => one.url === given && one.url !== before?.url);
  const urlProblem = isTaken ? "The event has this URL already." : problem(url);
  const typesProblem = isAll || events.length ? null : "Choose at least one kind of message, or everything.";
  const isOld = before !== null && given === before.url;
  const shownProblem = isTried || (given && !isOld) ? urlProblem : null;

  function submit(event: Event) {
    event.preventDefault();
    setTried(true);
    // One that was there before may stay, be it unusable.
    if ((urlProblem && !isOld) || typesProblem) return;
    void work.run(async () => {
      const chosen = EVENT_TYPES.filter((one) => events.includes(one));
      const changed = {
        url: given,
        events: isAll ? null : chosen,
        recover,
        label: label.trim(),
        offSince: before?.offSince ?? null,
      };
      await saveEndpoint(sdk.db, eventId, before?.url ?? null, changed);
      onClose();
    });
  }

  function toggle(type: EventType, isOn: boolean) {
    setEvents((chosen) => (isOn ? [...chosen, type] : chosen.filter((one) => one !== type)));
  }

  return (
    <Dialog title={before ? "Change a receiver" : "Add a receiver"} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div class="field">
          <label for={id}>URL</label>
          <input
            id={id}
            type="url"
            value={url}
            placeholder="https://"
            autoComplete="off"
            spellcheck={false}
            aria-invalid={shownProblem !== null}
            aria-describedby={`${id}-told`}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
          <div id={`${id}-told`}>
            {shownProblem && <p class="field-error">{shownProblem}</p>}
            {!urlProblem && doubt(url) && <p class="field-doubt">{doubt(url)}</p>}
            <p class="quiet-text">
              https, no user name or password, {MAX_URL_BYTES.toLocaleString()} bytes at most; {MAX_URLS} URLs
              an event. Have the receiver verify the signature, in place of a key in the URL.
            </p>
          </div>
        </div>
        <div class="field">
          <label for={`${id}-label`}>Name (may stay empty)</label>
          <input
            id={`${id}-label`}
            value={label}
            maxLength={MAX_LABEL_CHARACTERS}
            placeholder="Screen in the hall"
            autoComplete="off"
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </div>
        <fieldset class="stack-tight">
          <legend class="label">Messages for this URL</legend>
          <label class="check">
            <input type="radio" name="chosen" checked={isAll} onChange={() => setAll(true)} />
            Everything but deletions
          </label>
          <label class="check">
            <input type="radio" name="chosen" checked={!isAll} onChange={() => setAll(false)} />
            Only these
          </label>
          {!isAll && (
            <div class="type-choice">
              {EVENT_TYPES.map((type) => (
                <label key={type} class="check">
                  <input
                    type="checkbox"
                    checked={events.includes(type)}
                    onChange={(event) => toggle(type, event.currentTarget.checked)}
                  />
                  <span>{EVENT_WORDS[type]} <span class="quiet-text mono">{type}</span></span>
                </label>
              ))}
            </div>
          )}
          {isTried && typesProblem && <p class="field-error" role="alert">{typesProblem}</p>}
        </fieldset>
        <label class="check">
          <input type="checkbox" checked={recover} onChange={(event) => setRecover(event.currentTarget.checked)} />
          <span>
            Send failed ones again by itself
            <span class="quiet-text"> once the receiver answers, each once, of the last 24 hours</span>
          </span>
        </label>
        {before && !isOld && (
          <Notice>Deliveries to the old URL stay on record; what failed there cannot be sent again.</Notice>
        )}
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Cancel</button>
          <ActionButton busy={work.isBusy} kind="primary" submits>Save</ActionButton>
        </div>
      </form>
    </Dialog>
  );
}
