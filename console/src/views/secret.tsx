import { useEffect, useState } from "preact/hooks";

import type { Rotated } from "../data/calls.ts";
import { type WebhookSecret, readSecret } from "../data/secret.ts";
import { ActionButton, useWork } from "../ui/busy.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Heading } from "../ui/heading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Countdown, When } from "../ui/when.tsx";
import { usePlace } from "./place.ts";

/** The secret that signs every delivery of the event; for superadmins. */
export function SecretView() {
  return (
    <div class="column">
      <Heading title="Secret">Secret</Heading>
      <p class="quiet-text prose">
        One secret signs all deliveries of the event. Its receivers verify with it, and anybody who has it can pass
        for this service.
      </p>
      <SecretCard />
    </div>
  );
}

function SecretCard() {
  const { sdk, eventId } = usePlace();
  const [secret, setSecret] = useState<WebhookSecret | null | undefined>(undefined);
  const [isRotating, setRotating] = useState(false);
  const work = useWork();
  // Read when it is asked for, and not before.
  const reveal = () => work.run(async () => setSecret(await readSecret(sdk.db, eventId)));
  const hide = () => setSecret(undefined);
  useEffect(() => {
    const hidden = () => document.hidden && hide();
    document.addEventListener("visibilitychange", hidden);
    return () => document.removeEventListener("visibilitychange", hidden);
  }, []);

  return (
    <section class="card" aria-label="The secret">
      {secret === undefined && (
        <>
          <div class="key"><code aria-label="hidden">whsec_••••••••••••••••••••••••••••••••</code></div>
          <p class="quiet-text">It hides again when you leave this tab.</p>
        </>
      )}
      {secret === null && <Notice>The event has no secret yet: the first delivery makes it.</Notice>}
      {secret && <Revealed secret={secret} />}
      {work.error && <Notice kind="error">{work.error}</Notice>}
      <div class="actions">
        {secret === undefined
          ? <ActionButton busy={work.isBusy} kind="primary" onClick={reveal}>Reveal</ActionButton>
          : <button type="button" onClick={hide}>Hide</button>}
        <button type="button" onClick={() => setRotating(true)}>Replace…</button>
      </div>
      {isRotating && (
        <RotateDialog
          onClose={(hasRotated) => {
            setRotating(false);
            if (hasRotated && secret !== undefined) void reveal();
          }}
        />
      )}
    </section>
  );
}

function Revealed({ secret: { secret, next, rotatedAt } }: { readonly secret: WebhookSecret }) {
  return (
    <>
      <h2>Signs now</h2>
      <div class="key">
        <code data-secret>{secret}</code>
        <CopyButton label="Copy" text={() => secret} />
      </div>
      {rotatedAt && <p class="quiet-text">Since <When at={rotatedAt} long />.</p>}
      {next && (
        <>
          <h2>Signs next, <Countdown to={next.activeFrom} /></h2>
          <div class="key">
            <code data-next>{next.secret}</code>
            <CopyButton label="Copy" text={() => next.secret} />
          </div>
          <p class="quiet-text">
            From <When at={next.activeFrom} long /> on. Until then give receivers both; take the old one away a minute
            after.
          </p>
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

function RotateDialog({ onClose }: { readonly onClose: (hasRotated: boolean) => void }) {
  const { calls } = usePlace();
  const [minutes, setMinutes] = useState("1440");
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const work = useWork();
  const rotate = () => work.run(async () => setRotated(await calls.rotate(Number(minutes))));
  const isNow = minutes === "0";
  return (
    <Dialog title="Replace the secret" onClose={() => onClose(rotated !== null)}>
      <div class="stack">
        {!rotated && (
          <>
            <div class="field">
              <label for="rotate-when">The new one signs</label>
              <select id="rotate-when" value={minutes} onChange={(event) => setMinutes(event.currentTarget.value)}>
                {OVERLAPS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
              </select>
            </div>
            <Notice kind={isNow ? "warning" : "info"}>
              {isNow
                ? "Receivers refuse deliveries until they have the new secret; what they refuse is retried and can be recovered."
                : "Both can be read here until then. Receivers that accept either lose nothing. One that was announced before is replaced."}
            </Notice>
          </>
        )}
        {rotated && (
          <Notice kind="success">
            {rotated.rotatedAt
              ? "The new secret signs from now on."
              : <>The new secret signs from <When at={new Date(rotated.activeFrom)} long /> on.</>}{" "}
            Deliveries may be signed with the old one until <When at={new Date(rotated.oldSecretUsedUntil)} long />.
          </Notice>
        )}
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={() => onClose(rotated !== null)}>{rotated ? "Close" : "Cancel"}</button>
          {!rotated && (
            <ActionButton busy={work.isBusy} kind={isNow ? "danger" : "primary"} onClick={rotate}>
              {isNow ? "Replace it now" : "Announce a new secret"}
            </ActionButton>
          )}
        </div>
      </div>
    </Dialog>
  );
}
