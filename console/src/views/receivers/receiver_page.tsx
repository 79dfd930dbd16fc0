import { useState } from "preact/hooks";

import { type Settings, removeEndpoint, saveEndpoint } from "../../data/endpoints.ts";
import { isAdmin } from "../../data/session.ts";
import { linkTo } from "../../domain/address.ts";
import type { Delivery } from "../../domain/delivery.ts";
import { type Endpoint, callName, nameOf, problem } from "../../domain/endpoint.ts";
import { EVENT_WORDS } from "../../domain/event_type.ts";
import { missingWords } from "../../domain/health.ts";
import { verdict } from "../../domain/verdict.ts";
import { Act } from "../../ui/busy.tsx";
import { Ask } from "../../ui/form.tsx";
import { Heading } from "../../ui/heading.tsx";
import { BackIcon } from "../../ui/icons.tsx";
import { type LiveList, useAsked } from "../../ui/live.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign, Url } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { EndpointDialog, RecoverDialog, TestDialog } from "./dialogs.tsx";
import { HealthBadge, HealthFacts, useHealth } from "./health.tsx";
import { LinkDialog, Links } from "./links.tsx";
import { SecretCard } from "./secret.tsx";

interface Props {
  readonly endpoint: Endpoint;
  readonly settings: Settings;
  readonly list: LiveList<Delivery>;
  /** Its deliveries. */
  readonly children: preact.ComponentChildren;
}

/** One endpoint: its health, the next step, and all actions on it. */
export function ReceiverPage({ endpoint, settings, list, children }: Props) {
  const { sdk, staff, eventId } = usePlace();
  const { id, url, label, events, unknownEvents, disabled, offSince, recover } = endpoint;
  // To recover: after an edit, the new URL is known before the settings are reported.
  const [open, setOpen] = useState<"" | "edit" | "remove" | "test" | "share" | { readonly url: string; readonly from: Date | null }>("");
  const health = useHealth(endpoint, list);
  const name = useAsked(() => nameOf(url), [url]).value;
  const mayEdit = isAdmin(staff);
  const unusable = problem(url);
  const isOff = disabled !== null || offSince !== null;
  const since = disabled?.at ?? offSince;
  const failingSince = health.value?.failingSince ?? null;
  const missing = health.value?.missing ?? 0;
  // The latest failure, if the endpoint fails now.
  const failed = failingSince && list.value?.items.find(({ outcome }) => outcome === "failed" || outcome === "retrying");
  const told = failed ? verdict(failed, recover) : null;
  const close = () => setOpen("");
  const recoverSince = (from: Date | null, at = url) => setOpen({ url: at, from });
  // Offers to resend deliveries that recovery does not cover: failures at the old URL, or from before recovery was turned on.
  const offer = (at: string) => {
    if (at !== url ? !failingSince : failingSince || !missing) return false;
    recoverSince(failingSince, at);
    return true;
  };
  // Offers to resend the deliveries of the meantime.
  const switchOn = async () => {
    await saveEndpoint(sdk.db, eventId, { ...endpoint, disabled: null, offSince: null });
    recoverSince(since);
  };

  return (
    <div class="column">
      <p class="back"><a href={linkTo("receivers", eventId)}><BackIcon />All endpoints</a></p>
      <div class="head">
        <Heading title={callName(endpoint)}>{label ? <Foreign>{label}</Foreign> : <Url url={url} />}</Heading>
        <HealthBadge endpoint={endpoint} live={health} />
      </div>
      {/* Above what arrives later, so that no button moves under a click. */}
      <div class="actions">
        <button type="button" class="primary" onClick={() => setOpen("test")}>Send test…</button>
        <button type="button" onClick={() => setOpen("share")}>Share log…</button>
        {!unusable && !isOff && <button type="button" onClick={() => recoverSince(failingSince)}>Resend failed…</button>}
        {mayEdit && <button type="button" onClick={() => setOpen("edit")}>Edit</button>}
        {mayEdit && !isOff && <Act run={() => saveEndpoint(sdk.db, eventId, { ...endpoint, offSince: new Date() })}>Turn off</Act>}
        {mayEdit && <button type="button" class="quiet danger" onClick={() => setOpen("remove")}>Remove</button>}
      </div>
      {isOff && (
        <Notice kind={disabled ? "error" : "info"}>
          <p>
            This endpoint is {disabled ? "disabled" : "turned off"}{disabled && <>: <bdi>{disabled.reason || "it was turned off"}</bdi></>}
            {since && since.getTime() > 0 && <> (since <When at={since} long />)</>}. Events that happen meanwhile are recorded as skipped.
          </p>
          {mayEdit ? <Act run={switchOn}>Turn on</Act> : <p>An admin can turn it on.</p>}
        </Notice>
      )}
      {unusable && <Notice kind="warning">Nothing can be delivered to this URL. {unusable}</Notice>}
      {!isOff && told?.turn === "receiver" && (
        <Notice kind="warning"><p>{told.words}</p></Notice>
      )}
      {!isOff && !unusable && missing > 0 && (
        <Notice kind="warning">
          <p>{missingWords(missing)} in the last 24 hours.{failingSince && (recover ? " They'll be resent automatically once the endpoint recovers." : " They can be resent once the endpoint recovers.")}</p>
          {!failingSince && <button type="button" onClick={() => recoverSince(null)}>Resend failed…</button>}
        </Notice>
      )}
      {!isOff && !unusable && health.value && !health.value.lastSuccess && health.value.delivered + health.value.failed === 0 && (
        <Notice>
          <p>No deliveries yet. Send a test to check that your endpoint works.</p>
          <button type="button" onClick={() => setOpen("test")}>Send a test</button>
        </Notice>
      )}
      <section class="card" aria-label="Endpoint">
        <HealthFacts live={health} />
        <dl class="facts">
          <div><dt>URL</dt><dd><Url url={url} full /></dd></div>
          <div>
            <dt>Events</dt>
            <dd class="types">
              {unknownEvents.map((type) => <span key={type} class="badge failed" title="This event type doesn't exist. Edit the endpoint to remove it.">Unknown: {type}</span>)}
              {events === null
                ? <span class="badge">All events except deletions</span>
                : events.length ? events.map((type) => <span key={type} class="badge" title={type}>{EVENT_WORDS[type]}</span>) : <span class="badge">None</span>}
            </dd>
          </div>
          <div><dt>After an outage</dt><dd>{recover ? "Failed deliveries are resent automatically" : "Failed deliveries are not resent"}</dd></div>
          {name && <div><dt>Name shown in emails and shared logs</dt><dd><bdi>{name}</bdi></dd></div>}
        </dl>
      </section>
      {children}
      <div class="two">
        <Links endpoint={endpoint} />
        <SecretCard />
      </div>
      {open === "edit" && <EndpointDialog before={endpoint} others={settings.endpoints} onClose={close} onSaved={offer} />}
      {open === "share" && <LinkDialog url={url} label={label} onClose={close} />}
      {open === "test" && <TestDialog endpoint={endpoint} onClose={close} />}
      {typeof open === "object" && <RecoverDialog {...open} onClose={close} />}
      {open === "remove" && (
        <Ask
          title="Remove this endpoint?"
          action="Remove"
          kind="danger"
          close="Keep it"
          run={async () => {
            await removeEndpoint(sdk.db, eventId, id);
            location.hash = linkTo("receivers", eventId);
          }}
          onClose={close}
        >
          <p><Url url={url} full /></p>
          <p>
            Deliveries stop, and failed ones can no longer be resent. The log is kept for 30 days, and shared links work
            until they expire.
          </p>
        </Ask>
      )}
    </div>
  );
}
