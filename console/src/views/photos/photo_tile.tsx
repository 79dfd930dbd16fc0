import { type Decision, type Photo, decisionWords, decisions, photoOf } from "../../domain/photo.ts";
import { StarIcon } from "../../ui/icons.tsx";
import { Picture } from "../../ui/picture.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";

interface Props {
  readonly photo: Photo;
  readonly mayDecide: boolean;
  /** Whether Tab leads to it: one photo of the grid is in the tab order, arrows lead to the others. */
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly onOpen: () => void;
  readonly onDecide: (decision: Decision) => void;
}

/** One photo of the grid. */
export function PhotoTile({ photo, mayDecide, isCurrent, onFocus, onOpen, onDecide }: Props) {
  const { status, url, thumbUrl, featured, uploaderName, createdAt } = photo;
  const tab = isCurrent ? 0 : -1;
  const name = photoOf(photo);
  return (
    <li class="photo" onFocusIn={onFocus}>
      <button type="button" class="picture" tabIndex={tab} onClick={onOpen} aria-label={`Look at the ${name}`}>
        <Picture url={thumbUrl ?? url} alt="" />
      </button>
      {featured && <span class="badge retrying featured"><StarIcon />Featured</span>}
      <p class="caption">
        <span class="by">{uploaderName ? <Foreign>{uploaderName}</Foreign> : "No name"}</span>
        {createdAt && <span class="quiet-text"><When at={createdAt} /></span>}
      </p>
      {mayDecide && (
        <div class="actions">
          {decisions(photo).filter((decision) => decision !== "delete").map((decision) => (
            <button
              key={decision}
              type="button"
              tabIndex={tab}
              class={decision === "approve" ? "primary" : ""}
              onClick={() => onDecide(decision)}
            >
              {decisionWords(decision, status)}
              <span class="unseen"> the {name}</span>
            </button>
          ))}
        </div>
      )}
    </li>
  );
}
