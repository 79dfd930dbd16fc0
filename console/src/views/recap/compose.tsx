import { useEffect, useState } from "preact/hooks";

import type { Preview } from "../../data/calls.ts";
import { type Draft, EMPTY_DRAFT, textOf } from "../../data/draft.ts";
import { guestsOf } from "../../data/photos.ts";
import { sentWords } from "../../domain/recap.ts";
import { RECAP_TEXTS, TEXT_LABELS, TEXT_NAMES } from "../../domain/recap_text.ts";
import { count } from "../../domain/words.ts";
import { LANGUAGE, fromInput, nextMorning, zone } from "../../domain/time.ts";
import { Act } from "../../ui/busy.tsx";
import { blockedWords, nextRecapWords } from "../../ui/errors.ts";
import { Ask, Check, Field } from "../../ui/form.tsx";
import { useAsked } from "../../ui/live.tsx";
import { Mail } from "../../ui/mail.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";

type When = "now" | "morning" | "own";

interface Props {
  readonly hasRecap: boolean;
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
  readonly told: string;
  readonly setTold: (words: string) => void;
}

/** The next recap: previewed, emailed to oneself, and sent or scheduled. */
export function Compose({ hasRecap, draft, setDraft, told, setTold }: Props) {
  const { calls, staff, sdk, eventId } = usePlace();
  const [preview, setPreview] = useState<Preview | null>(null);
  const [guest, setGuest] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [when, setWhen] = useState<When>("now");
  const [own, setOwn] = useState("");
  // A preview is of the text that it was asked for.
  useEffect(() => setPreview(null), [draft]);

  const { mode, onlyNew } = draft;
  const text = textOf(draft);
  const change = (changed: Partial<Draft>) => {
    setDraft({ ...draft, ...changed });
    setTold("");
  };
  const at = when === "now" ? null : when === "morning" ? nextMorning(new Date()) : fromInput(own);
  const guests = useAsked(() => guestsOf(sdk.db, eventId), [sdk, eventId]).value ?? [];
  const look = async (seenBy = guest) => setPreview(await calls.preview(text, false, seenBy));
  const mailMe = async () => {
    setTold("");
    const shown = await calls.preview(text, true, guest);
    setPreview(shown);
    setTold(shown.mailed === false ? "No guests to preview." : `Test email sent to ${staff.email}.`);
  };

  return (
    <section class="card" aria-labelledby="compose">
      <h2 id="compose">Next recap</h2>
      <div class="two">
        <div class="stack">
          <fieldset class="stack-tight">
            <legend class="label">Include</legend>
            <Check name="mode" isOn={mode === "personal"} onChange={() => change({ mode: "personal" })}>Each guest's own photos</Check>
            <Check name="mode" isOn={mode === "all"} onChange={() => change({ mode: "all" })}>The event's highlights</Check>
          </fieldset>
          {(hasRecap || onlyNew) && (
            <fieldset class="stack-tight">
              <legend class="label">Send to</legend>
              <Check name="to" isOn={!onlyNew} onChange={() => change({ onlyNew: false })}>Everyone, including guests who already got a recap</Check>
              <Check name="to" isOn={onlyNew} onChange={() => change({ onlyNew: true })}>Only guests who haven't received one yet</Check>
            </fieldset>
          )}
          {TEXT_NAMES.map((name) => {
            const { characters, hasLines } = RECAP_TEXTS[name];
            return (
              <Field
                key={name}
                label={`${TEXT_LABELS[name]} (optional)`}
                type={hasLines ? "lines" : "text"}
                value={draft[name]}
                max={characters}
                onChange={(value) => change({ [name]: value })}
                hint={hasLines && `${draft[name].length.toLocaleString(LANGUAGE)} of ${characters.toLocaleString(LANGUAGE)} characters`}
              />
            );
          })}
          {mode === "personal" && guests.length > 1 && (
            <Field
              label="Preview as"
              value={guest}
              options={[["", "Guest with the most photos"], ...guests.map(({ email, name }) => [email, name ? `${name}, ${email}` : email] as const)]}
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
          {!staff.isVerified && <p class="quiet-text">Verify your email address to send yourself a test.</p>}
          {told && <Notice kind="success"><bdi>{told}</bdi></Notice>}
        </div>
        {preview ? <Found preview={preview} onSend={() => {
          setWhen(preview.blocked ? "morning" : "now");
          setAsking(true);
        }} /> : (
          <p class="quiet-text">Preview the email and see how many guests will get it. Nothing is sent.</p>
        )}
      </div>
      {isAsking && preview && (
        <Ask
          title={when !== "now" ? "Schedule this recap?" : "Send this recap?"}
          disabled={when === "own" && at === null}
          action={when !== "now" ? "Schedule recap" : preview.skipped === undefined ? "Send recap" : `Send ${count(preview.recipients, "email", "emails")}`}
          run={async () => {
            const words = at ? (await calls.schedule(text, at), "Recap scheduled.") : sentWords(await calls.send(text));
            change(EMPTY_DRAFT);
            setTold(words);
          }}
          onClose={() => setAsking(false)}
          slow="Sending… You can leave this page."
        >
          <Numbers preview={preview} />
          <fieldset class="stack-tight">
            <legend class="label">When</legend>
            {!preview.blocked && <Check name="when" isOn={when === "now"} onChange={() => setWhen("now")}>Send now</Check>}
            <Check name="when" isOn={when === "morning"} onChange={() => setWhen("morning")}>Tomorrow at 10:00 ({zone()})</Check>
            <Check name="when" isOn={when === "own"} onChange={() => setWhen("own")}>Pick a date and time</Check>
          </fieldset>
          {when === "own" && <Field label={`Time (${zone()}), within 30 days`} type="datetime-local" value={own} onChange={setOwn} />}
          {preview.hidden > 0 && <p>Send anyway?</p>}
          <p class="quiet-text">
            {when !== "now" ? "You can cancel any time before then. It goes to everyone eligible at that time and replaces the current schedule." : "This can't be undone. You can send another recap in 24 hours."}
          </p>
        </Ask>
      )}
    </section>
  );
}

/** Words for the planner's count. With fewer than ten guests, the number of opt-outs stays secret. */
function recipientWords({ recipients, skipped }: Preview): string {
  if (!recipients) return "No guest will get an email.";
  if (skipped !== undefined) return `${count(recipients, "guest", "guests")} will get an email.`;
  return `Up to ${count(recipients, "guest", "guests")} will get an email, not counting those who opted out.`;
}

/** The number of guests the recap would reach, and photos that no email would show. */
function Numbers({ preview }: { readonly preview: Preview }) {
  const { hadRecap, skipped = 0, left, hidden } = preview;
  const waiting = usePlace().waitingWords;
  return (
    <>
      <p>
        <strong>{recipientWords(preview)}</strong>{" "}
        {[
          hadRecap > 0 && `${hadRecap.toLocaleString(LANGUAGE)} of them already got a recap.`,
          skipped > 0 && `${count(skipped, "guest", "guests")} won't get it (opted out or no valid address).`,
          left > 0 && `${count(left, "guest", "guests")} will get theirs with the next recap.`,
        ].filter(Boolean).join(" ")}
      </p>
      {waiting && <Notice kind="warning">Photos still awaiting approval: {waiting}. They won't be included.</Notice>}
      {hidden > 0 && (
        <Notice kind="warning">
          {count(hidden, "photo is", "photos are")} hidden because {hidden === 1 ? "its host isn't" : "their hosts aren't"} on the allowed list. Ask your administrator to add {hidden === 1 ? "it" : "them"}.
        </Notice>
      )}
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
          {blocked.possibleFrom ? nextRecapWords(new Date(blocked.possibleFrom)) : blockedWords(blocked.code)}
        </Notice>
      )}
      {html && <Mail mail={preview} />}
      {recipients > 0 && (
        <div class="actions"><button type="button" class="primary" onClick={onSend}>{blocked ? "Schedule…" : "Send…"}</button></div>
      )}
    </div>
  );
}
