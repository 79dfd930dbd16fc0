import { useEffect, useState } from "preact/hooks";

import type { Preview, RecapText } from "../../data/calls.ts";
import { type Draft, EMPTY_DRAFT, keepDraft, readDraft } from "../../data/draft.ts";
import { guestsOf } from "../../data/photos.ts";
import { sentWords } from "../../domain/recap.ts";
import { count } from "../../domain/words.ts";
import { LANGUAGE, fromInput, nextMorning, zone } from "../../domain/time.ts";
import { Act } from "../../ui/busy.tsx";
import { nextRecapWords } from "../../ui/errors.ts";
import { Ask, Check, Field } from "../../ui/form.tsx";
import { useAsked } from "../../ui/live.tsx";
import { Mail } from "../../ui/mail.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace, waitingWords } from "../place.ts";

const SUBJECT_CHARACTERS = 200;
const MESSAGE_CHARACTERS = 4000;

type When = "now" | "morning" | "own";

/** The next recap: looked at, mailed to oneself, and sent once one has seen what that does. The text stays with the event. */
export function Compose({ hasRecap }: { readonly hasRecap: boolean }) {
  const { calls, staff, sdk, eventId } = usePlace();
  const [draft, setDraft] = useState<Draft>(() => readDraft(eventId));
  const [preview, setPreview] = useState<Preview | null>(null);
  const [guest, setGuest] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [told, setTold] = useState("");
  const [when, setWhen] = useState<When>("now");
  const [own, setOwn] = useState("");
  useEffect(() => keepDraft(eventId, draft), [draft]);

  const { mode, subject, message, onlyNew } = draft;
  const text: RecapText = { mode, ...(subject && { subject }), ...(message && { message }), ...(onlyNew && { onlyNew }) };
  const change = (changed: Partial<Draft>) => {
    setDraft({ ...draft, ...changed });
    setPreview(null);
    setTold("");
  };
  const at = when === "now" ? null : when === "morning" ? nextMorning(new Date()) : fromInput(own);
  const guests = useAsked(() => guestsOf(sdk.db, eventId), [sdk, eventId]).value ?? [];
  const look = async (seenBy = guest) => setPreview(await calls.preview(text, false, seenBy));
  const mailMe = async () => {
    setTold("");
    const shown = await calls.preview(text, true, guest);
    setPreview(shown);
    setTold(shown.mailed === false ? "There is nobody to show the mail of." : `It is on its way to ${staff.email}.`);
  };

  return (
    <section class="card" aria-labelledby="compose">
      <h2 id="compose">Next recap</h2>
      <div class="two">
        <div class="stack">
          <fieldset class="stack-tight">
            <legend class="label">Every guest gets</legend>
            <Check name="mode" isOn={mode === "personal"} onChange={() => change({ mode: "personal" })}>their own photos</Check>
            <Check name="mode" isOn={mode === "all"} onChange={() => change({ mode: "all" })}>the event's highlights</Check>
          </fieldset>
          {(hasRecap || onlyNew) && (
            <fieldset class="stack-tight">
              <legend class="label">It goes to</legend>
              <Check name="to" isOn={!onlyNew} onChange={() => change({ onlyNew: false })}>everybody, guests who had an earlier recap included</Check>
              <Check name="to" isOn={onlyNew} onChange={() => change({ onlyNew: true })}>only guests who have had no recap of this event</Check>
            </fieldset>
          )}
          <Field label="Subject (empty: the usual one)" value={subject} max={SUBJECT_CHARACTERS} onChange={(value) => change({ subject: value })} />
          <Field
            label="A paragraph of your own"
            type="lines"
            value={message}
            max={MESSAGE_CHARACTERS}
            onChange={(value) => change({ message: value })}
            hint={`${message.length.toLocaleString(LANGUAGE)} of ${MESSAGE_CHARACTERS.toLocaleString(LANGUAGE)} characters`}
          />
          {mode === "personal" && guests.length > 1 && (
            <Field
              label="As seen by"
              value={guest}
              options={[["", "a guest with most photos"], ...guests.map(({ email, name }) => [email, name ? `${name}, ${email}` : email] as const)]}
              onChange={(value) => {
                setGuest(value);
                if (preview) void look(value);
              }}
            />
          )}
          <div class="actions">
            <Act kind="primary" run={() => look()}>Preview</Act>
            <Act run={mailMe} disabled={!staff.isVerified}>Send to me</Act>
          </div>
          {!staff.isVerified && <p class="quiet-text">Your e-mail address is not verified, so nothing can be mailed to you.</p>}
          {told && <Notice kind="success"><bdi>{told}</bdi></Notice>}
        </div>
        {preview ? <Found preview={preview} onSend={() => {
          setWhen(preview.blocked ? "morning" : "now");
          setAsking(true);
        }} /> : (
          <p class="quiet-text">The mail of one of the guests shows here, with the numbers. Looking at it sends nothing.</p>
        )}
      </div>
      {isAsking && preview && (
        <Ask
          title={when !== "now" ? "Plan the recap?" : "Send the recap?"}
          disabled={when === "own" && at === null}
          action={when !== "now" ? "Plan the recap" : preview.skipped === undefined ? "Send the recap" : `Send ${count(preview.recipients, "mail", "mails")}`}
          run={async () => {
            const words = at ? (await calls.plan(text, at), "It is planned.") : sentWords(await calls.send(text));
            change(EMPTY_DRAFT);
            setTold(words);
          }}
          onClose={() => setAsking(false)}
          slow="Being sent; it goes on without this page."
        >
          <Numbers preview={preview} />
          <fieldset class="stack-tight">
            <legend class="label">When</legend>
            {!preview.blocked && <Check name="when" isOn={when === "now"} onChange={() => setWhen("now")}>Send now</Check>}
            <Check name="when" isOn={when === "morning"} onChange={() => setWhen("morning")}>Tomorrow at 10:00 ({zone()})</Check>
            <Check name="when" isOn={when === "own"} onChange={() => setWhen("own")}>At a time of my own</Check>
          </fieldset>
          {when === "own" && <Field label={`Time (${zone()}), within 30 days`} type="datetime-local" value={own} onChange={setOwn} />}
          {preview.hidden > 0 && <p>Send it all the same?</p>}
          <p class="quiet-text">
            {when !== "now" ? "Until then it can be taken back. It goes to the guests of that time, in the place of what is planned now." : "It cannot be taken back, and the next one is possible after 24 hours."}
          </p>
        </Ask>
      )}
    </section>
  );
}

/** The planner's count; of fewer than ten guests, how many have opted out is not told. */
function recipientWords({ recipients, skipped }: Preview): string {
  if (!recipients) return "No guest gets a mail.";
  if (skipped !== undefined) return `${count(recipients, "guest gets", "guests get")} a mail.`;
  return `${recipients === 1 ? "One guest gets" : `Up to ${count(recipients, "guest gets", "guests get")}`} a mail, less those who have opted out.`;
}

/** Whom the recap would reach, and what no mail would show. */
function Numbers({ preview }: { readonly preview: Preview }) {
  const { hadRecap, skipped = 0, left, hidden, notes = [] } = preview;
  const waiting = waitingWords(usePlace().waiting);
  return (
    <>
      <p>
        <strong>{recipientWords(preview)}</strong>{" "}
        {[
          hadRecap > 0 && `${hadRecap.toLocaleString(LANGUAGE)} of them had one before.`,
          skipped > 0 && `${count(skipped, "guest is", "guests are")} skipped: opted out, or without a valid address.`,
          left > 0 && `${count(left, "guest is", "guests are")} left for the next recap.`,
        ].filter(Boolean).join(" ")}
      </p>
      {waiting && <Notice kind="warning">Photos that still wait: {waiting}. They are in no mail until somebody approves them.</Notice>}
      {notes.map((note) => <Notice key={note} kind={hidden > 0 ? "warning" : "info"}><bdi>{note}</bdi></Notice>)}
    </>
  );
}

function Found({ preview, onSend }: { readonly preview: Preview; readonly onSend: () => void }) {
  const { recipients, blocked, html } = preview;
  return (
    <div class="stack">
      <Numbers preview={preview} />
      {blocked && (
        <Notice kind="warning">
          {blocked.possibleFrom ? nextRecapWords(new Date(blocked.possibleFrom)) : <bdi>{blocked.message}</bdi>}
        </Notice>
      )}
      {html && <Mail mail={preview} />}
      {recipients > 0 && (
        <div class="actions"><button type="button" class="primary" onClick={onSend}>{blocked ? "Plan…" : "Send…"}</button></div>
      )}
    </div>
  );
}
