import { useState } from "preact/hooks";

import { type Decision, type Photo, STATUS_WORDS, decisionWords, decisions, photoOf } from "../../domain/photo.ts";
import { Dialog, Field } from "../../ui/form.tsx";
import { Picture } from "../../ui/picture.tsx";
import { Foreign, Who } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";

const REASON_CHARACTERS = 1000;

interface Props {
  readonly photo: Photo;
  readonly isDeleted: boolean;
  readonly mayDecide: boolean;
  readonly onDecide: (decision: Decision, reason: string) => void;
  readonly onClose: () => void;
}

/** One photo, large, with its facts. */
export function PhotoDialog({ photo, isDeleted, mayDecide, onDecide, onClose }: Props) {
  const [reason, setReason] = useState("");
  const { status, uploaderEmail, createdAt, decidedBy, decidedByUid, decidedAt, reason: given } = photo;
  const open = decisions(photo);
  const name = photoOf(photo);
  return (
    <Dialog title={name[0]?.toUpperCase() + name.slice(1)} onClose={onClose}>
      <div class="stack">
        <div class="large"><Picture url={photo.url} alt={name} /></div>
        {photo.thumbUrl && (
          <figure>
            <Picture url={photo.thumbUrl} alt={`Small picture of the ${name}`} />
            <figcaption class="quiet-text">The small picture, which emails and walls show</figcaption>
          </figure>
        )}
        <dl class="facts">
          <div><dt>Status</dt><dd>{isDeleted ? "Deleted" : STATUS_WORDS[status]}{!isDeleted && decidedBy && <>, by <Who uid={decidedByUid} email={decidedBy} />{decidedAt && <>, <When at={decidedAt} long /></>}</>}</dd></div>
          {createdAt && <div><dt>Uploaded</dt><dd><When at={createdAt} long /></dd></div>}
          <div><dt>Email</dt><dd>{uploaderEmail ? <Foreign>{uploaderEmail}</Foreign> : "Not provided (no recap)"}</dd></div>
          {given && <div><dt>Reason</dt><dd><Foreign>{given}</Foreign></dd></div>}
        </dl>
        {mayDecide && open.includes("reject") && (
          <Field
            label="Reason (optional)"
            hint="The guest and your webhooks receive the reason and your email address."
            value={reason}
            max={REASON_CHARACTERS}
            onChange={setReason}
          />
        )}
        <div class="actions end">
          <button type="button" onClick={onClose}>Close</button>
          {mayDecide && [...open].reverse().map((decision) => (
            <button
              key={decision}
              type="button"
              class={decision === "delete" ? "danger apart" : decision === "approve" ? "primary" : ""}
              onClick={() => onDecide(decision, reason.trim())}
            >
              {decisionWords(decision, status)}
            </button>
          ))}
        </div>
      </div>
    </Dialog>
  );
}
