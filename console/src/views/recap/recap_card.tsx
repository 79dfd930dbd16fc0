import { useState } from "preact/hooks";

import type { Preview, RecapText, Unreached } from "../../data/calls.ts";
import type { Recap, RecapLock } from "../../data/recaps.ts";
import { TROUBLE_WORDS, recapWords, sentWords } from "../../domain/recap.ts";
import { TEXT_NAMES, enteredTexts } from "../../domain/recap_text.ts";
import { duration } from "../../domain/time.ts";
import { count } from "../../domain/words.ts";
import { Act } from "../../ui/busy.tsx";
import { Ask } from "../../ui/form.tsx";
import { CrossIcon, OutcomeIcon, TickIcon, WarningIcon } from "../../ui/icons.tsx";
import { Foreign, Who } from "../../ui/text.tsx";
import { Mail } from "../../ui/mail.tsx";
import { Countdown, When, useNow } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { Texts } from "./texts.tsx";

/** When the next recap can be sent. */
export function LockWords({ lock: { leasedUntil, cooldownUntil, isUnfinished } }: { readonly lock: RecapLock }) {
  const now = useNow(10_000);
  if (leasedUntil && leasedUntil > now) return <>A recap is being sent right now.</>;
  if (!cooldownUntil || cooldownUntil <= now) return <>You can send the next recap now.</>;
  if (isUnfinished) return <>The last recap was interrupted. Send again to email the remaining guests.</>;
  return <>You can send the next recap <Countdown to={cooldownUntil} /> (<When at={cooldownUntil} />).</>;
}

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
  empty: { words: "No recipients", looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> },
};

/** One recap, moving as its batches complete. Of the `isLast` one unconfirmed mails can be sent again. */
export function RecapCard({ recap, isLast }: { readonly recap: Recap; readonly isLast: boolean }) {
  const { mode, state, startedAt, finishedAt, recipients, sent, unknown, skipped, left, sender, senderUid } = recap;
  const shown = STATES[state] ?? { words: state, looks: "skipped", icon: <OutcomeIcon outcome="skipped" /> };
  return (
    <section class="card" aria-label={`Recap, ${shown.words}`}>
      <div class="head">
        <h2>{startedAt ? <When at={startedAt} long /> : "Not started"}</h2>
        <span class={`badge ${shown.looks}`}>{shown.icon}{shown.words}</span>
        <span class="badge">{mode === "all" ? "Highlights" : "Own photos"}</span>
      </div>
      {state === "sending" && recipients > 0 && (
        <progress max={recipients} value={sent} aria-label="Emails sent">{sent} of {recipients}</progress>
      )}
      <p>
        {[
          recapWords(recap),
          skipped > 0 && `${count(skipped, "guest was", "guests were")} skipped.`,
          left > 0 && state === "sent" && `${count(left, "guest", "guests")} will get theirs with the next recap.`,
          unknown > 0 && `We couldn't confirm whether ${count(unknown, "email was", "emails were")} accepted.`,
        ].filter(Boolean).join(" ")}
      </p>
      {TEXT_NAMES.some((name) => recap[name]) && <dl class="facts"><Texts texts={recap} /></dl>}
      {isLast && unknown > 0 && state !== "sending" && <SendAgain unconfirmed={unknown} />}
      {sent > 0 && <Look recap={recap} />}
      <p class="quiet-text">
        {senderUid && <>Sent by <Who uid={senderUid} email={sender} />. </>}
        {startedAt && finishedAt && <>Took {duration(finishedAt.getTime() - startedAt.getTime())}.</>}
      </p>
    </section>
  );
}

/** A question before unconfirmed emails are sent once more. */
function SendAgain({ unconfirmed }: { readonly unconfirmed: number }) {
  const { calls } = usePlace();
  const [isAsking, setAsking] = useState(false);
  return (
    <div class="actions">
      <button type="button" onClick={() => setAsking(true)}>Resend unconfirmed emails…</button>
      {isAsking && (
        <Ask
          title="Resend the unconfirmed emails?"
          action="Resend"
          run={async () => <p><bdi>{sentWords(await calls.resendUnconfirmed())}</bdi></p>}
          onClose={() => setAsking(false)}
          slow="Sending… You can leave this page."
        >
          <p>
            The email provider didn't confirm {count(unconfirmed, "email", "emails")}. Guests whose email was already reported as
            delivered are skipped. Others may get the email twice.
          </p>
          <p class="quiet-text">Reports take some minutes. Wait a while before you resend.</p>
        </Ask>
      )}
    </div>
  );
}

/** The mail, made again from the recap's record and not kept, and whom it did not reach. */
function Look({ recap }: { readonly recap: Recap }) {
  const { calls } = usePlace();
  const [shown, setShown] = useState<"" | "mail" | "guests">("");
  const [found, setFound] = useState<Preview | null>(null);
  const { id, told } = recap;
  const text: RecapText = { mode: recap.mode === "all" ? "all" : "personal", ...enteredTexts(recap) };
  const show = (what: typeof shown) => async () => {
    setFound(await calls.lookAgain(text, id));
    setShown(what);
  };
  return (
    <>
      <div class="actions">
        {told && told.bounced + told.dropped + told.complained > 0 && shown !== "guests" && <Act run={show("guests")}>Show undelivered</Act>}
        {shown !== "mail" && <Act run={show("mail")}>Show email</Act>}
        {shown && <button type="button" onClick={() => setShown("")}>Hide</button>}
      </div>
      {shown === "guests" && <ul class="rows">{found?.unreached?.map((guest, place) => <Guest key={place} guest={guest} />)}</ul>}
      {shown === "mail" && found && (
        <>
          <p class="quiet-text">Recreated with the event's current photos, name and language.</p>
          <Mail mail={found} />
        </>
      )}
    </>
  );
}

function Guest({ guest: { name, address, trouble } }: { readonly guest: Unreached }) {
  const who = address ? <><strong><Foreign>{name || "Anonymous"}</Foreign></strong> <Foreign>{address}</Foreign></> : "A guest with no approved photos";
  return <li><span>{who}: {TROUBLE_WORDS[trouble]}</span></li>;
}
