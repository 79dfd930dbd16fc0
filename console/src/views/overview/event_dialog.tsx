import { useState } from "preact/hooks";

import { type EventFields, changeEvent } from "../../data/events.ts";
import type { Staff } from "../../data/session.ts";
import { ENGLISH, LANGUAGES, galleryProblem, isEventId, languageName, suggestedId } from "../../domain/event.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";

interface FormProps {
  readonly title: string;
  readonly staff: Staff;
  readonly before: EventFields | null;
  /** Saves; of a new event under the id that was chosen. */
  readonly save: (fields: EventFields, id: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Changes the event that is looked at. */
export function EventDialog({ before, onClose }: Pick<FormProps, "before" | "onClose">) {
  const { sdk, staff, eventId } = usePlace();
  return (
    <EventForm
      title="Edit the event"
      staff={staff}
      before={before}
      save={(fields) => changeEvent(sdk.db, eventId, fields)}
      onClose={onClose}
    />
  );
}

const NAME_CHARACTERS = 200;

/** What an admin says of an event, a new one's id among it. */
export function EventForm({ title, staff, before, save, onClose }: FormProps) {
  const [name, setName] = useState(before?.name ?? "");
  const [givenId, setGivenId] = useState<string | null>(null);
  const [galleryUrl, setGalleryUrl] = useState(before?.galleryUrl ?? "");
  const [language, setLanguage] = useState(before?.language ?? ENGLISH);
  const [replyTo, setReplyTo] = useState(before?.replyTo ?? "");
  const [autoApprove, setAutoApprove] = useState(before?.autoApprove ?? false);
  const [isTried, setTried] = useState(false);
  const work = useWork();
  const id = givenId ?? suggestedId(name);
  const nameProblem = name.trim() ? null : "Give the event a name.";
  const idProblem = before || isEventId(id) ? null : "1 to 128 letters, digits, hyphens and underscores.";
  const urlProblem = galleryProblem(galleryUrl.trim());
  // The values on record stay to choose from: another admin may have set them.
  const languages = [...new Set([...LANGUAGES, language])];
  const mailboxes = [...new Set([before?.replyTo ?? "", staff.isVerified ? staff.email : ""])].filter(Boolean);

  function submit(event: Event) {
    event.preventDefault();
    setTried(true);
    if (nameProblem || idProblem || urlProblem) return;
    void work.run(async () => {
      await save({ name: name.trim(), autoApprove, galleryUrl: galleryUrl.trim(), language, replyTo }, id);
      onClose();
    });
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div class="field">
          <label for="event-name">Name</label>
          <input id="event-name" value={name} maxLength={NAME_CHARACTERS} autoComplete="off" aria-invalid={isTried && nameProblem !== null} onInput={(event) => setName(event.currentTarget.value)} />
          {isTried && nameProblem && <p class="field-error">{nameProblem}</p>}
        </div>
        {!before && (
          <div class="field">
            <label for="event-id">Id</label>
            <input id="event-id" class="mono" value={id} autoComplete="off" spellcheck={false} aria-invalid={isTried && idProblem !== null} onInput={(event) => setGivenId(event.currentTarget.value)} />
            {isTried && idProblem && <p class="field-error">{idProblem}</p>}
            <p class="quiet-text">It stands in links and webhooks, and cannot be changed later.</p>
          </div>
        )}
        <div class="field">
          <label for="event-gallery">Gallery page (may stay empty)</label>
          <input id="event-gallery" type="url" value={galleryUrl} placeholder="https://" spellcheck={false} aria-invalid={urlProblem !== null} onInput={(event) => setGalleryUrl(event.currentTarget.value)} />
          {urlProblem && <p class="field-error">{urlProblem}</p>}
          <p class="quiet-text">Mails to guests link to it.</p>
        </div>
        <div class="field">
          <label for="event-language">Language of mails to guests</label>
          <select id="event-language" value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
            {languages.map((one) => <option key={one} value={one} lang={one}>{languageName(one)}</option>)}
          </select>
        </div>
        <div class="field">
          <label for="event-reply-to">Answers of guests go to</label>
          <select id="event-reply-to" value={replyTo} onChange={(event) => setReplyTo(event.currentTarget.value)}>
            <option value="">the operator of this service</option>
            {mailboxes.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
          {!staff.isVerified && (
            <p class="quiet-text">Your own address can be chosen once it is verified: sign in by a mailed link once.</p>
          )}
        </div>
        <label class="check">
          <input type="checkbox" checked={autoApprove} onChange={(event) => setAutoApprove(event.currentTarget.checked)} />
          Show photos at once, without anybody looking at them
        </label>
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Cancel</button>
          <ActionButton busy={work.isBusy} kind="primary" submits>{before ? "Save" : "Make the event"}</ActionButton>
        </div>
      </form>
    </Dialog>
  );
}
