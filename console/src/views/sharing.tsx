import { useMemo, useState } from "preact/hooks";

import type { Share } from "../data/calls.ts";
import { type Endpoint, type Settings, watchEndpoints } from "../data/endpoints.ts";
import { type ActiveShare, watchShares } from "../data/shares.ts";
import { callName, named, parts } from "../domain/endpoint.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { wordsOf } from "../ui/errors.ts";
import { Heading } from "../ui/heading.tsx";
import { useLive } from "../ui/live.ts";
import { Empty, Notice, Skeleton } from "../ui/notice.tsx";
import { Url } from "../ui/text.tsx";
import { Ago, When } from "../ui/when.tsx";
import { usePlace } from "./place.ts";

const DAYS = [1, 2, 3, 4, 5, 6, 7];

/** Links for the people behind a receiver: made, listed, ended. `endpoint` names the one that is asked for. */
export function SharingView({ endpoint }: { readonly endpoint: string | null }) {
  const { sdk, eventId } = usePlace();
  const settings = useLive<Settings>(
    (onValue, onError) => watchEndpoints(sdk.db, eventId, onValue, onError),
    [sdk, eventId],
  );
  return (
    <div class="column">
      <Heading title="Links">Links</Heading>
      <p class="quiet-text prose">
        A link shows the people behind a receiver what was sent to their own URL, what their server answered, and when
        the next attempt comes. They need no account. The link shows nothing of other URLs, and not the secret.
      </p>
      {settings.state === "failed" && <Notice kind="error">{wordsOf(settings.error)}</Notice>}
      {settings.state === "loading" && <Skeleton rows={3} />}
      {settings.state === "there" && <NewLink endpoints={settings.value.endpoints} wanted={endpoint} />}
      <ActiveLinks />
    </div>
  );
}

function NewLink({ endpoints, wanted }: { readonly endpoints: readonly Endpoint[]; readonly wanted: string | null }) {
  const { calls } = usePlace();
  const urls = endpoints.map(({ url }) => url);
  const [chosen, setChosen] = useState(() => (wanted ? named(wanted, urls) : null) ?? "");
  const [days, setDays] = useState(7);
  const [canResend, setCanResend] = useState(false);
  const [share, setShare] = useState<Share | null>(null);
  const work = useWork();
  const url = urls.includes(chosen) ? chosen : (urls[0] ?? "");
  if (!urls.length) return <Notice>There is no URL yet whose deliveries could be shared.</Notice>;

  function submit(event: Event) {
    event.preventDefault();
    void work.run(async () => {
      setShare(null);
      setShare(await calls.share(url, days, canResend));
    });
  }

  return (
    <section class="card" aria-labelledby="new-link">
      <h2 id="new-link">New link</h2>
      <form class="stack" onSubmit={submit}>
        <div class="share-fields">
          <div class="field">
            <label for="share-url">URL</label>
            <select id="share-url" value={url} onChange={(event) => setChosen(event.currentTarget.value)}>
              {endpoints.map((one) => <option key={one.url} value={one.url}>{callName(one)}</option>)}
            </select>
          </div>
          <div class="field">
            <label for="share-days">Ends after</label>
            <select id="share-days" value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
              {DAYS.map((one) => <option key={one} value={one}>{one === 1 ? "1 day" : `${one} days`}</option>)}
            </select>
          </div>
        </div>
        <label class="check">
          <input type="checkbox" checked={canResend} onChange={(event) => setCanResend(event.currentTarget.checked)} />
          Deliveries can be sent again from the link
        </label>
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions">
          <ActionButton busy={work.isBusy} kind="primary" submits>Make a link</ActionButton>
        </div>
      </form>
      {share && (
        <Notice kind="success">
          <p>
            <strong>Copy it now: it is shown this once.</strong> Bodies hold names and addresses of guests; give it only
            to the people behind that receiver.
          </p>
          <div class="key">
            <code class="foreign" data-link>{share.link}</code>
            <CopyButton label="Copy link" text={() => share.link} />
          </div>
          <p>It ends by itself on <When at={new Date(share.expiresAt)} long />.</p>
        </Notice>
      )}
    </section>
  );
}

function ActiveLinks() {
  const { sdk, eventId } = usePlace();
  const now = useMemo(() => new Date(), []);
  const live = useLive<readonly ActiveShare[]>(
    (onValue, onError) => watchShares(sdk.db, eventId, now, onValue, onError),
    [sdk, eventId],
  );
  return (
    <section aria-labelledby="links" class="column">
      <h2 id="links">Active links</h2>
      {live.state === "failed" && <Notice kind="error">{wordsOf(live.error)}</Notice>}
      {live.state === "loading" && <Skeleton rows={2} />}
      {live.state === "there" && !live.value.length && (
        <Empty title="No active link">
          <p>A link ends by itself after a week at most. You can end it here before.</p>
        </Empty>
      )}
      {live.state === "there" && live.value.length > 0 && (
        <ul class="rows">
          {live.value.map((share) => <LinkRow key={share.id} share={share} />)}
        </ul>
      )}
    </section>
  );
}

function LinkRow({ share }: { readonly share: ActiveShare }) {
  const { calls } = usePlace();
  const work = useWork();
  return (
    <li class="share-row">
      <div>
        <p><Url url={share.url} /></p>
        <p class="quiet-text">
          {share.canResend ? "Read and send again" : "Read only"}
          {share.createdAt && <> · made <Ago at={share.createdAt} /></>} · ends <When at={share.expireAt} />
        </p>
        {work.error && <Notice kind="error">{work.error}</Notice>}
      </div>
      <ActionButton
        busy={work.isBusy}
        kind="danger"
        onClick={() => work.run(async () => void (await calls.revoke(share.id)))}
      >
        End it now<span class="unseen">: the link to {parts(share.url).host}{parts(share.url).path}</span>
      </ActionButton>
    </li>
  );
}
