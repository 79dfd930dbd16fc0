import { type Made, isOpen } from "../../data/decisions.ts";
import { type Decision, type Photo, STATUS_WORDS, decisionWords, decisions, photoOf } from "../../domain/photo.ts";
import { StarIcon } from "../../ui/icons.tsx";
import { Picture } from "../../ui/picture.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";

interface Props {
  /** As it stands by the decision that was made here. */
  readonly photo: Photo;
  readonly made: Made | undefined;
  /** Whether it still waits for a decision here, or has left the list. */
  readonly isLeft: boolean;
  readonly mayDecide: boolean;
  /** Whether Tab leads to it: one photo of the grid is in the tab order, arrows lead to the others. */
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly onOpen: () => void;
  readonly onDecide: (decision: Decision) => void;
  readonly onUndo: () => void;
}

/** One photo of the grid. */
export function PhotoTile({ photo, made, isLeft, mayDecide, isCurrent, onFocus, onOpen, onDecide, onUndo }: Props) {
  const { status, url, thumbUrl, featured, uploaderName, createdAt } = photo;
  const tab = isCurrent ? 0 : -1;
  const name = photoOf(photo);
  return (
    <li class={`photo${isLeft ? "" : " left"}`} data-id={photo.id} onFocusIn={onFocus}>
      <button type="button" class="picture" tabIndex={tab} onClick={onOpen}>
        <Picture url={thumbUrl ?? url} alt="" />
        <span class="unseen">Look at the {name}</span>
      </button>
      {featured && <span class="badge retrying featured"><StarIcon />Featured</span>}
      <p class="caption">
        <span class="by">{uploaderName ? <Foreign>{uploaderName}</Foreign> : "No name"}</span>
        {createdAt && <span class="quiet-text"><When at={createdAt} /></span>}
      </p>
      {isLeft && mayDecide && (
        <div class="actions">
          {decisions(photo).filter((decision) => decision !== "delete").map((decision) => (
            <button
              key={decision}
              type="button"
              tabIndex={tab}
              class={decision === "approve" ? "primary" : ""}
              aria-disabled={isOpen(made)}
              onClick={() => onDecide(decision)}
            >
              {decisionWords(decision, status)}
              <span class="unseen"> the {name}</span>
            </button>
          ))}
        </div>
      )}
      {!isLeft && (
        <div class="actions">
          <span class={`badge ${made ? (made.progress === "done" ? "success" : "retrying") : ""}`}>{stateWords(photo, made)}</span>
          {made?.progress === "done" && made.decision !== "delete" && (
            <button type="button" class="quiet" tabIndex={tab} onClick={onUndo}>Undo<span class="unseen">: {status === "approved" ? "take down" : "approve"} the {name}</span></button>
          )}
        </div>
      )}
    </li>
  );
}

function stateWords({ status }: Photo, made: Made | undefined): string {
  if (!made) return "Decided elsewhere";
  if (made.progress === "late") return "Not confirmed yet";
  if (made.progress === "sending") return "Sending…";
  return made.decision === "delete" ? "Deleted" : STATUS_WORDS[status];
}
