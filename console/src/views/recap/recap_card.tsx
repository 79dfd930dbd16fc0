import { useState } from "preact/hooks";

import type { Preview, RecapText } from "../../data/calls.ts";
import { type Recap, type Unreached as UnreachedGuest, readUnreached } from "../../data/recaps.ts";
import { seesDeliveries } from "../../data/session.ts";
import { TROUBLE_WORDS } from "../../domain/outcomes.ts";
import { recapWords } from "../../domain/recap.ts";
import { LANGUAGE, duration } from "../../domain/time.ts";
import { count } from "../../domain/words.ts";
import { Act } from "../../ui/busy.tsx";
import { CrossIcon, OutcomeIcon, TickIcon, WarningIcon } from "../../ui/icons.tsx";
import { Foreign } from "../../ui/text.tsx";
import { Mail } from "../../ui/mail.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";

interface State {
  readonly words: string;
  readonly looks: string;
  readonly icon: preact.JSX.Element;
}

const STATES: Readonly<Record<string, State>> = {
  sending: { words: "Sending", looks: "retrying", icon: <OutcomeIcon outcome="retrying" /> },
  sent: { words: "Sent", looks: "success", icon: <TickIcon /> },
  interrupted: { words: "Interrupted", looks: "failed", icon: <WarningIcon /> },
  failed: { words: "Failed", looks: "failed", icon: <CrossIcon /> },
  empty: { words: "Nobody to send to", looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> },
};

/** One recap, moving as its batches complete. */
export function RecapCard({ recap }: { readonly recap: Recap }) {
  const { staff } = usePlace();
    const { id, mode, state, startedAt, finishedAt, recipients, sent, unknown, skipped, left, told, subject, message, sender } = recap;
  const shown = STATES[state] ?? { words: state, looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> };
  return (
    <section class="card" aria-label={`Recap, ${shown.words}`}>
      <div class="head">
        <h2>{startedAt ? <When at={startedAt} long /> : "Not begun"}</h2>
        <span class={`badge ${shown.looks}`}>{shown.icon}{shown.words}</span>
        <span class="tag">{mode === "all" ? "highlights for all" : "own photos"}</span>
      </div>
      {state === "sending" && recipients > 0 && (
        <progress max={recipients} value={sent} aria-label="Mails sent">{sent} of {recipients}</progress>
      )}
      <p>{recapWords(recap)}</p>
      <p class="quiet-text">
        {[
          skipped > 0 && `${count(skipped, "guest", "guests")} skipped`,
          left > 0 && state === "sent" && `${count(left, "guest", "guests")} left for the next recap`,
          unknown > 0 && `${unknown.toLocaleString(LANGUAGE)} of those sent not confirmed`,
        ].filter(Boolean).join(", ")}
      </p>
      {(subject || message) && (
        <dl class="facts">
          {subject && <div><dt>Subject</dt><dd><Foreign>{subject}</Foreign></dd></div>}
          {message && <div><dt>Paragraph</dt><dd class="lines"><Foreign>{message}</Foreign></dd></div>}
        </dl>
      )}
      {told && hasTrouble(told) && seesDeliveries(staff) && <Unreached recapId={id} />}
      {sent > 0 && <Again recap={recap} />}
      <p class="quiet-text">
        {sender && <>Sent by <Foreign>{sender}</Foreign>. </>}
        {startedAt && finishedAt && <>Took {duration(finishedAt.getTime() - startedAt.getTime())}.</>}
      </p>
    </section>
  );
}

/** The mail, made again from the recap's record, and not kept. */
function Again({ recap: { mode, subject, message } }: { readonly recap: Recap }) {
  const { calls } = usePlace();
  const [mail, setMail] = useState<Preview | null>(null);
  const text: RecapText = { mode: mode === "all" ? "all" : "personal", ...(subject && { subject }), ...(message && { message }) };
  const show = async () => setMail(await calls.preview(text, false));
  return (
    <>
      <div class="actions">
        {mail
          ? <button type="button" onClick={() => setMail(null)}>Hide the mail</button>
          : <Act run={show}>Show the mail</Act>}
      </div>
      {mail && (
        <>
          <p class="quiet-text">Made again from the record, with today's photos, name and language of the event.</p>
          <Mail mail={mail} />
        </>
      )}
    </>
  );
}

function hasTrouble({ bounced, dropped, complained }: NonNullable<Recap["told"]>): boolean {
  return bounced + dropped + complained > 0;
}

/** Whom it did not reach, for admins; read when it is asked for. */
function Unreached({ recapId }: { readonly recapId: string }) {
  const { sdk, eventId } = usePlace();
  const [guests, setGuests] = useState<readonly UnreachedGuest[] | null>(null);
  if (!guests) {
    return <div class="actions"><Act run={async () => setGuests(await readUnreached(sdk.db, eventId, recapId))}>Who was not reached?</Act></div>;
  }
  return (
    <ul class="plain-list">
      {guests.map(({ name, address, trouble }) => (
        <li key={address + name}>
          <strong><Foreign>{name || "No name"}</Foreign></strong> <Foreign>{address}</Foreign>: {TROUBLE_WORDS[trouble]}
        </li>
      ))}
      {guests.length === 0 && <li class="quiet-text">These guests have no approved photo any more.</li>}
    </ul>
  );
}
