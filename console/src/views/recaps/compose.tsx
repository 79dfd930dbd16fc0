import { useState } from "preact/hooks";

import type { Preview, RecapText, Sent } from "../../data/calls.ts";
import { guestsOf } from "../../data/photos.ts";
import { count } from "../../domain/words.ts";
import { useAsked } from "../../ui/asked.tsx";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { nextRecapWords } from "../../ui/errors.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { ShownMail } from "./shown_mail.tsx";

const SUBJECT_CHARACTERS = 200;
const MESSAGE_CHARACTERS = 4000;

/** The next recap: looked at, mailed to oneself, and sent once one has seen what that does. */
export function Compose({ onClose }: { readonly onClose: () => void }) {
  const { calls, staff, sdk, eventId } = usePlace();
  const [mode, setMode] = useState<RecapText["mode"]>("personal");
  const [subject, setSubject] = useState("");
  const [message, setMessage] = useState("");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [guest, setGuest] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [sent, setSent] = useState<Sent | null>(null);
  const [told, setTold] = useState("");
  const looking = useWork();
  const mailing = useWork();
  const sending = useWork();

  const text: RecapText = { mode, ...(subject && { subject }), ...(message && { message }) };
  const changed = () => {
    setPreview(null);
    setTold("");
  };
  const guests = useAsked(() => guestsOf(sdk.db, eventId), [sdk, eventId]);
  const look = (seenBy = guest) => looking.run(async () => setPreview(await calls.preview(text, false, seenBy)));
  const mailMe = () =>
    mailing.run(async () => {
      setTold("");
      const shown = await calls.preview(text, true, guest);
      setPreview(shown);
      setTold(shown.mailed === false ? "There is nobody to show the mail of." : `It is on its way to ${staff.email}.`);
    });
  const send = () =>
    sending.run(async () => {
      setSent(await calls.send(text));
      setAsking(false);
      setPreview(null);
    });

  return (
    <section class="card" aria-labelledby="compose">
      <h2 id="compose">Next recap</h2>
      <div class="two">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void look();
          }}
        >
          <fieldset class="stack-tight">
            <legend class="label">Every guest gets</legend>
            <label class="check">
              <input type="radio" name="mode" checked={mode === "personal"} onChange={() => { setMode("personal"); changed(); }} />
              their own photos
            </label>
            <label class="check">
              <input type="radio" name="mode" checked={mode === "all"} onChange={() => { setMode("all"); changed(); }} />
              the event's highlights
            </label>
          </fieldset>
          <div class="field">
            <label for="recap-subject">Subject (empty: the usual one)</label>
            <input
              id="recap-subject"
              maxLength={SUBJECT_CHARACTERS}
              value={subject}
              onInput={(event) => { setSubject(event.currentTarget.value); changed(); }}
            />
          </div>
          <div class="field">
            <label for="recap-message">A paragraph of your own</label>
            <textarea
              id="recap-message"
              rows={5}
              maxLength={MESSAGE_CHARACTERS}
              value={message}
              onInput={(event) => { setMessage(event.currentTarget.value); changed(); }}
            />
            <p class="quiet-text">{message.length.toLocaleString()} of {MESSAGE_CHARACTERS.toLocaleString()} characters</p>
          </div>
          {mode === "personal" && guests && "value" in guests && guests.value.length > 1 && (
            <div class="field">
              <label for="recap-guest">As seen by</label>
              <select
                id="recap-guest"
                value={guest}
                onChange={(event) => {
                  setGuest(event.currentTarget.value);
                  if (preview) void look(event.currentTarget.value);
                }}
              >
                <option value="">a guest with most photos</option>
                {guests.value.map(({ email, name }) => <option key={email} value={email}>{name ? `${name}, ${email}` : email}</option>)}
              </select>
            </div>
          )}
          <div class="actions">
            <ActionButton busy={looking.isBusy} kind="primary" submits>Preview</ActionButton>
            <ActionButton busy={mailing.isBusy} onClick={mailMe} disabled={!staff.isVerified}>Send to me</ActionButton>
            <button type="button" class="quiet" onClick={onClose}>Close</button>
          </div>
          {!staff.isVerified && <p class="quiet-text">Your e-mail address is not verified, so nothing can be mailed to you.</p>}
          {looking.error && <Notice kind="error">{looking.error}</Notice>}
          {mailing.error && <Notice kind="error">{mailing.error}</Notice>}
          {told && <Notice kind="success">{told}</Notice>}
          {sent && (
            <Notice kind="success">
              <p>{count(sent.sent, "mail was", "mails were")} sent{sent.skipped ? `, ${sent.skipped} guests were skipped` : ""}.</p>
              {sent.message && <p><bdi>{sent.message}</bdi></p>}
            </Notice>
          )}
        </form>
        {preview ? <Shown preview={preview} onSend={() => setAsking(true)} /> : (
          <p class="quiet-text">The mail of one of the guests shows here, with the numbers. Looking at it sends nothing.</p>
        )}
      </div>
      {isAsking && preview && (
        <Dialog title="Send the recap?" onClose={() => setAsking(false)}>
          <div class="stack">
            <p><strong>{count(preview.recipients, "guest gets", "guests get")} a mail{preview.skipped === undefined ? ", less those who have opted out" : ""}.</strong></p>
            {!!preview.skipped && <p>{count(preview.skipped, "guest is", "guests are")} skipped.</p>}
            {preview.left > 0 && <p>{count(preview.left, "guest is", "guests are")} left for the next recap.</p>}
            <p class="quiet-text">It cannot be taken back, and the next one is possible after 24 hours.</p>
            {sending.error && <Notice kind="error">{sending.error}</Notice>}
            <div class="actions end">
              <button type="button" onClick={() => setAsking(false)}>Cancel</button>
              <ActionButton busy={sending.isBusy} kind="primary" onClick={send} slow="Being sent; it goes on without this page.">
                Send {count(preview.recipients, "mail", "mails")}
              </ActionButton>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function Shown({ preview, onSend }: { readonly preview: Preview; readonly onSend: () => void }) {
  const { recipients, skipped, left, blocked, message } = preview;
  return (
    <div class="stack">
      <dl class="figures">
        <div><dt>Would get it</dt><dd>{recipients.toLocaleString()}</dd></div>
        {skipped !== undefined && <div><dt>Skipped</dt><dd>{skipped.toLocaleString()}</dd></div>}
        <div><dt>Left for later</dt><dd>{left.toLocaleString()}</dd></div>
      </dl>
      {skipped === undefined && (
        <p class="quiet-text">Of fewer than ten guests, how many have opted out is not told.</p>
      )}
      {message && <Notice><bdi>{message}</bdi></Notice>}
      {blocked && (
        <Notice kind="warning">
          {blocked.possibleFrom ? nextRecapWords(new Date(blocked.possibleFrom)) : <bdi>{blocked.message}</bdi>}
        </Notice>
      )}
      {preview.html && <ShownMail mail={preview} />}
      {!blocked && recipients > 0 && (
        <div class="actions">
          <button type="button" class="primary" onClick={onSend}>Send to {count(recipients, "guest", "guests")}…</button>
        </div>
      )}
    </div>
  );
}
