import { useEffect, useState } from "preact/hooks";

import { type WebhookSecret, readSecret } from "../../data/secret.ts";
import { linkTo } from "../../domain/address.ts";
import { Act } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Ask, Field } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Who } from "../../ui/text.tsx";
import { Countdown, When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";

/** The secret that signs every delivery of the event. Only superadmins see it; admins get a request to send to one. */
export function SecretCard() {
  const { sdk, staff, eventId, eventName } = usePlace();
  const request = `Please share the webhook secret for “${eventName}” with the endpoint's developers. You'll find it under Webhooks > Secret: ${location.origin}/console${linkTo("receivers", eventId)}`;
  const [secret, setSecret] = useState<WebhookSecret | null | undefined>(undefined);
  const [open, setOpen] = useState<"" | "replace" | "withdraw">("");
  // Read when it is asked for, and not before.
  const reveal = async () => setSecret(await readSecret(sdk.db, eventId));
  const hide = () => setSecret(undefined);
  const refresh = async () => secret !== undefined && reveal();
  useEffect(() => {
    const hidden = () => document.hidden && hide();
    document.addEventListener("visibilitychange", hidden);
    return () => document.removeEventListener("visibilitychange", hidden);
  }, []);

  return (
    <section class="card" aria-labelledby="secret">
      <h2 id="secret">Secret</h2>
      <p class="quiet-text">One secret signs all deliveries of this event. Endpoints verify with it. Anyone with the secret can impersonate this service.</p>
      {staff.role !== "superadmin" ? (
        <>
          <p>
            Only superadmins can view or rotate the secret. Send one of them this request. Your administrator knows who the
            superadmins are.
          </p>
          <div class="key">
            <span class="grow" data-request>{request}</span>
            <CopyButton label="Copy request" text={() => request} />
          </div>
        </>
      ) : (
        <>
          {secret === undefined && <div class="key"><code aria-label="hidden">whsec_••••••••••••••••</code></div>}
          {secret === null && <Notice>This event has no secret yet. It is created with the first delivery.</Notice>}
          {secret && <Revealed secret={secret} onWithdraw={() => setOpen("withdraw")} />}
          <div class="actions">
            {secret === undefined ? <Act run={reveal}>Reveal</Act> : <button type="button" onClick={hide}>Hide</button>}
            <button type="button" onClick={() => setOpen("replace")}>Rotate…</button>
          </div>
        </>
      )}
      {open === "replace" && <RotateDialog onDone={refresh} onClose={() => setOpen("")} />}
      {open === "withdraw" && <WithdrawDialog onDone={refresh} onClose={() => setOpen("")} />}
    </section>
  );
}

interface RevealedProps {
  readonly secret: WebhookSecret;
  readonly onWithdraw: () => void;
}

function Revealed({ secret: { secret, next, rotatedAt, rotatedBy }, onWithdraw }: RevealedProps) {
  return (
    <>
      <h3>Current secret</h3>
      <div class="key">
        <code data-secret>{secret}</code>
        <CopyButton label="Copy" text={() => secret} />
      </div>
      {rotatedAt && <p class="quiet-text">Since <When at={rotatedAt} long />{rotatedBy && <>, rotated by <Who {...rotatedBy} /></>}.</p>}
      {next && (
        <>
          <h3>Next secret (takes effect <Countdown to={next.activeFrom} />)</h3>
          <div class="key">
            <code data-next>{next.secret}</code>
            <CopyButton label="Copy" text={() => next.secret} />
          </div>
          <p class="quiet-text">
            Takes effect on <When at={next.activeFrom} long />. Until then, configure both. You can remove the old one a minute later.
            {next.by && <> Scheduled by <Who {...next.by} />.</>}
          </p>
          <div class="actions"><button type="button" class="danger" onClick={onWithdraw}>Withdraw…</button></div>
        </>
      )}
    </>
  );
}

const OVERLAPS = [
  ["60", "in an hour"],
  ["1440", "in a day"],
  ["4320", "in three days"],
  ["10080", "in a week"],
  ["0", "immediately (current secret is compromised)"],
] as const;

interface DialogProps {
  /** What to do once it was carried out. */
  readonly onDone: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Ends the announced secret before it signs. */
function WithdrawDialog({ onDone, onClose }: DialogProps) {
  const { calls } = usePlace();
  const withdraw = async () => {
    await calls.withdraw();
    await onDone();
    return <Notice>The next secret was withdrawn, unless it was already active.</Notice>;
  };
  return (
    <Ask title="Withdraw the next secret?" action="Withdraw" kind="danger" close="Keep it" run={withdraw} onClose={onClose}>
      <p>The new secret won't be used, and the current one stays active. Endpoints that accept both are unaffected.</p>
    </Ask>
  );
}

function RotateDialog({ onDone, onClose }: DialogProps) {
  const { calls } = usePlace();
  const [minutes, setMinutes] = useState("1440");
  const isNow = minutes === "0";
  const rotate = async () => {
    const { rotatedAt, activeFrom, oldSecretUsedUntil } = await calls.rotate(Number(minutes));
    await onDone();
    return (
      <Notice kind="success">
        {rotatedAt ? "The new secret is active now." : <>The new secret takes effect on <When at={new Date(activeFrom)} long />.</>}{" "}
        Deliveries may be signed with the old secret until <When at={new Date(oldSecretUsedUntil)} long />.
      </Notice>
    );
  };
  return (
    <Ask title="Rotate the secret" action={isNow ? "Rotate now" : "Schedule rotation"} kind={isNow ? "danger" : "primary"} run={rotate} onClose={onClose}>
      <Field label="Takes effect" value={minutes} options={OVERLAPS} onChange={setMinutes} />
      <Notice kind={isNow ? "warning" : "info"}>
        {isNow
          ? "Endpoints will reject deliveries until you give them the new secret. Rejected deliveries are retried and can be resent."
          : "Until then, both secrets are shown here. Endpoints that accept either are unaffected. A rotation that was scheduled before is replaced."}
      </Notice>
    </Ask>
  );
}
