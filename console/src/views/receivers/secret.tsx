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

/** The secret that signs every delivery of the event: shown to superadmins; admins are told whom to ask. */
export function SecretCard() {
  const { sdk, staff, eventId, eventName } = usePlace();
  const request = `Please give the webhook secret of “${eventName}” to the people of its receiver. It is under Secret, at ${location.origin}/console${linkTo("receivers", eventId)}`;
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
      <p class="quiet-text">One secret signs all deliveries of the event. Receivers verify with it; anybody who has it can pass for this service.</p>
      {staff.role !== "superadmin" ? (
        <>
          <p>
            Superadmins of your organization can read it and replace it. Send one of them this request; the people of the receiver
            get the secret from them. The operator of this service knows who the superadmins are.
          </p>
          <div class="key">
            <span class="grow" data-request>{request}</span>
            <CopyButton label="Copy the request" text={() => request} />
          </div>
        </>
      ) : (
        <>
          {secret === undefined && <div class="key"><code aria-label="hidden">whsec_••••••••••••••••</code></div>}
          {secret === null && <Notice>The event has no secret yet: the first delivery makes it.</Notice>}
          {secret && <Revealed secret={secret} onWithdraw={() => setOpen("withdraw")} />}
          <div class="actions">
            {secret === undefined ? <Act run={reveal}>Reveal</Act> : <button type="button" onClick={hide}>Hide</button>}
            <button type="button" onClick={() => setOpen("replace")}>Replace…</button>
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
      <h3>Signs now</h3>
      <div class="key">
        <code data-secret>{secret}</code>
        <CopyButton label="Copy" text={() => secret} />
      </div>
      {rotatedAt && <p class="quiet-text">Since <When at={rotatedAt} long />{rotatedBy && <>, replaced by <Who {...rotatedBy} /></>}.</p>}
      {next && (
        <>
          <h3>Signs next, <Countdown to={next.activeFrom} /></h3>
          <div class="key">
            <code data-next>{next.secret}</code>
            <CopyButton label="Copy" text={() => next.secret} />
          </div>
          <p class="quiet-text">
            From <When at={next.activeFrom} long /> on. Until then give receivers both; take the old one away a minute after.
            {next.by && <> Announced by <Who {...next.by} />.</>}
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
  ["0", "at once: the present one has leaked"],
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
    const { message } = await calls.withdraw();
    await onDone();
    return <Notice>{message}</Notice>;
  };
  return (
    <Ask title="Withdraw the announced secret?" action="Withdraw" kind="danger" close="Keep it" run={withdraw} onClose={onClose}>
      <p>It never signs, and the present secret goes on. Receivers that have both lose nothing.</p>
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
        {rotatedAt ? "The new secret signs from now on." : <>The new secret signs from <When at={new Date(activeFrom)} long /> on.</>}{" "}
        Deliveries may be signed with the old one until <When at={new Date(oldSecretUsedUntil)} long />.
      </Notice>
    );
  };
  return (
    <Ask title="Replace the secret" action={isNow ? "Replace it now" : "Announce a new secret"} kind={isNow ? "danger" : "primary"} run={rotate} onClose={onClose}>
      <Field label="The new one signs" value={minutes} options={OVERLAPS} onChange={setMinutes} />
      <Notice kind={isNow ? "warning" : "info"}>
        {isNow
          ? "Receivers refuse deliveries until they have the new secret; what they refuse is retried and can be recovered."
          : "Both can be read here until then. Receivers that accept either lose nothing. A secret that was announced before is replaced."}
      </Notice>
    </Ask>
  );
}
