import { useState } from "preact/hooks";

import type { Preview } from "../../data/calls.ts";
import { type Draft, textOf } from "../../data/draft.ts";
import { type Scheduled, watchScheduled } from "../../data/recaps.ts";
import { Act } from "../../ui/busy.tsx";
import { Ask } from "../../ui/form.tsx";
import { useLive } from "../../ui/live.tsx";
import { Mail } from "../../ui/mail.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { Texts } from "./texts.tsx";

/** The time of the scheduled recap, or that it wasn't sent; nothing if the recaps below say it. */
export function ScheduledWords() {
  const { sdk, eventId } = usePlace();
  const { value } = useLive(() => watchScheduled(sdk.db, eventId), [sdk, eventId]);
  return value && isShown(value) ? <Words scheduled={value} /> : null;
}

/** The scheduled recap as a notice: its text, a preview, and how to edit or cancel it. */
export function ScheduledNotice({ onEdit }: { readonly onEdit: (draft: Draft, words: string) => void }) {
  const { sdk, eventId, calls } = usePlace();
  const { value } = useLive(() => watchScheduled(sdk.db, eventId), [sdk, eventId]);
  const [isAsking, setAsking] = useState(false);
  const [preview, setPreview] = useState<Preview | null>(null);
  if (!value || !isShown(value)) return null;
  const { draft, state } = value;
  const isScheduled = state === "scheduled";
  return (
    <>
      <Notice kind={isScheduled ? "info" : "warning"}>
        <p><Words scheduled={value} /></p>
        <dl class="facts">
          <div><dt>Include</dt><dd>{draft.mode === "all" ? "The event's highlights" : "Each guest's own photos"}</dd></div>
          <div><dt>Send to</dt><dd>{draft.onlyNew ? "Only guests who haven't received one yet" : "Everyone"}</dd></div>
          <Texts texts={draft} />
        </dl>
        <div class="actions">
          {isScheduled && <Act run={async () => setPreview(preview ? null : await calls.preview(textOf(draft), false))}>{preview ? "Hide preview" : "Preview scheduled recap"}</Act>}
          <button type="button" onClick={() => onEdit(draft, isScheduled ? "Edit the text, then schedule it again. Until then, the scheduled recap keeps its text." : "")}>{isScheduled ? "Edit" : "Use this text again"}</button>
          {isScheduled && <button type="button" class="danger" onClick={() => setAsking(true)}>Cancel scheduled recap…</button>}
        </div>
        {isAsking && isScheduled && (
          <Ask
            title="Cancel the scheduled recap?"
            action="Cancel recap"
            close="Keep it"
            run={async () => {
              await calls.schedule(null, null);
              onEdit(draft, "Scheduled recap canceled. Its text is back in the draft.");
            }}
            onClose={() => setAsking(false)}
          >
            <p>No emails will be sent. Its text returns to the draft below, and you can schedule it again later.</p>
          </Ask>
        )}
      </Notice>
      {preview && isScheduled && <section class="card" aria-label="Preview of the scheduled recap"><Mail mail={preview} /></section>}
    </>
  );
}

function isShown({ state }: Scheduled): boolean {
  return state === "scheduled" || state === "failed";
}

function Words({ scheduled: { at, state, by } }: { readonly scheduled: Scheduled }) {
  return state === "scheduled"
    ? <>Recap scheduled for <When at={at} long /> by <Foreign>{by}</Foreign>.</>
    : <>The recap scheduled for <When at={at} long /> wasn't sent. Check the event and schedule it again, or send it now.</>;
}
