import { useMemo, useState } from "preact/hooks";

import { watchShares } from "../../data/shares.ts";
import type { Endpoint } from "../../domain/endpoint.ts";
import { Act } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Ask, Check, Field } from "../../ui/form.tsx";
import { Shown, useLive } from "../../ui/live.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign } from "../../ui/text.tsx";
import { withNames } from "../../ui/token.ts";
import { Ago, When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";

/** Links for the people behind a receiver: listed, ended. */
export function Links({ endpoint: { url } }: { readonly endpoint: Endpoint }) {
  const { sdk, staff, eventId, calls } = usePlace();
  const now = useMemo(() => new Date(), []);
  const live = useLive(() => watchShares(sdk.db, eventId, now), [sdk, eventId]);
  return (
    <section class="card" aria-labelledby="links">
      <h2 id="links">Shared logs</h2>
      <p class="quiet-text">
        Share a read-only log with the endpoint's developers: requests, responses and upcoming retries. They need no account,
        and they can't see other endpoints or the secret.
      </p>
      <Shown live={live}>
        {({ items }) => {
          const links = items.filter((link) => link.url === url && !link.isRevoked);
          if (!links.length) return <p>No active links.</p>;
          return (
            <ul class="rows">
              {links.map(({ id, canResend, createdAt, createdBy, expireAt }) => (
                <li key={id}>
                  <span class="grow">
                    {canResend ? "Read and resend" : "Read-only"}
                    <span class="quiet-text">{createdAt && <> · created <Ago at={createdAt} /></>} by <Foreign>{createdBy === staff.uid ? "you" : createdBy}</Foreign> · expires <When at={expireAt} /></span>
                  </span>
                  <Act kind="danger" run={() => calls.revoke(id)}>Revoke</Act>
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
    </section>
  );
}

const DAYS = ["1", "2", "3", "4", "5", "6", "7"].map((days) => [days, days === "1" ? "1 day" : `${days} days`] as const);

/** Makes a link, which is shown once. */
export function LinkDialog({ url, label, onClose }: { readonly url: string; readonly label: string; readonly onClose: () => void }) {
  const { calls, eventName } = usePlace();
  const [days, setDays] = useState("7");
  const [canResend, setCanResend] = useState(false);
  const make = async () => {
    const { link, expiresAt } = await calls.share(url, Number(days), canResend);
    const named = withNames(link, eventName, label);
    return (
      <Notice kind="success">
        <p>
          <strong>Copy this link now. You won't be able to see it again.</strong> It exposes guests' names and emails. Share
          it only with this endpoint's developers.
        </p>
        <div class="key">
          <code class="foreign" data-link>{named}</code>
          <CopyButton label="Copy link" text={() => named} />
        </div>
        <p>It expires on <When at={new Date(expiresAt)} long />.</p>
      </Notice>
    );
  };
  return (
    <Ask title="Share log" action="Create link" run={make} onClose={onClose}>
      <Field label="Expires after" value={days} options={DAYS} onChange={setDays} />
      <Check isOn={canResend} onChange={setCanResend}>Allow resending deliveries</Check>
    </Ask>
  );
}
