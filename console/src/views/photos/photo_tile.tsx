import type { JSX, RefObject } from "preact";

import { type Made, isOpen } from "../../data/decisions.ts";
import { type Decision, type Photo, STATUS_WORDS, decidedAs, decisionWords, decisions, photoOf, pictureUrl, savingWords, undoWords } from "../../domain/photo.ts";
import { wordsOf } from "../../ui/errors.ts";
import { StarIcon } from "../../ui/icons.tsx";
import { Picture } from "../../ui/picture.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";

/** The actions of a tile. */
export interface Acts {
  readonly focus: (photo: Photo) => void;
  readonly open: (photo: Photo) => void;
  readonly choose: (photo: Photo) => void;
  readonly decide: (photo: Photo, decision: Decision) => void;
  readonly undo: (photo: Photo) => void;
  /** The picture shows. */
  readonly loaded: (photo: Photo) => void;
}

interface Props {
  readonly photo: Photo;
  readonly made: Made | undefined;
  /** Address of the person who decides here. */
  readonly email: string;
  /** Its state after it left the list; undefined if that is not known, null if it was deleted. */
  readonly became: Photo | null | undefined;
  /** Whether it still waits for a decision here, or has left the list. */
  readonly isLeft: boolean;
  readonly mayDecide: boolean;
  readonly isChosen: boolean;
  /** Whether Tab leads to it: one photo of the grid is in the tab order, arrows lead to the others. */
  readonly isCurrent: boolean;
  readonly acts: RefObject<Acts>;
}

/** Tiles as they were drawn, by their photos: of hundreds, each is drawn again only if a property has changed. */
export type Drawn = Map<string, { readonly props: Props; readonly tile: JSX.Element }>;

export function tileOf(props: Props, drawn: Drawn): JSX.Element {
  const { id } = props.photo;
  const before = drawn.get(id);
  if (before && (Object.keys(props) as (keyof Props)[]).every((name) => before.props[name] === props[name])) return before.tile;
  const tile = <PhotoTile key={id} {...props} />;
  drawn.set(id, { props, tile });
  return tile;
}

/** One photo of the grid. */
function PhotoTile({ photo: shown, made, email, became, isLeft, mayDecide, isChosen, isCurrent, acts }: Props) {
  const photo = made ? madeOf(shown, made, email) : (became ?? shown);
  const { status, featured, uploaderName, createdAt } = photo;
  const tab = isCurrent ? 0 : -1;
  const name = photoOf(photo);
  return (
    <li class={`photo${isLeft ? "" : " left"}`} data-id={photo.id} onFocusIn={() => acts.current?.focus(shown)}>
      <button type="button" class="picture" tabIndex={tab} onClick={() => acts.current?.open(shown)}>
        <Picture url={pictureUrl(shown)} alt="" onLoad={() => acts.current?.loaded(shown)} />
        <span class="unseen">View {name}</span>
      </button>
      {/* On the picture, so that its words do not enlarge the tile. */}
      {made?.progress === "refused" && <span class="state error">{wordsOf(made.error)}</span>}
      {!isLeft && <span class={`state badge ${badgeOf(photo, made)}`}>{becameWords(photo, made, became, email)}</span>}
      {featured && <span class="badge retrying featured"><StarIcon />Highlight</span>}
      {isLeft && mayDecide && (
        <label class="choose">
          <input type="checkbox" tabIndex={tab} checked={isChosen} onChange={() => acts.current?.choose(shown)} />
          <span class="unseen">Select {name}</span>
        </label>
      )}
      <p class="caption">
        <span class="by">{uploaderName ? <Foreign>{uploaderName}</Foreign> : "Anonymous"}</span>
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
              onClick={() => acts.current?.decide(shown, decision)}
            >
              {decisionWords(decision, status)}
              <span class="unseen">: {name}</span>
            </button>
          ))}
        </div>
      )}
      {!isLeft && (
        <div class="actions">
          {made?.progress === "done" && made.decision !== "delete" && (
            <button type="button" class="quiet" tabIndex={tab} aria-disabled={!made.canUndo} onClick={() => acts.current?.undo(shown)}>
              {undoWords(made.decision)}<span class="unseen">: {name}</span>
            </button>
          )}
        </div>
      )}
    </li>
  );
}

/** Returns the photo as the decision on this page leaves it. */
export function madeOf(photo: Photo, made: Made | undefined, email: string): Photo {
  return made && made.progress !== "refused" ? decidedAs(photo, made.decision, email) : photo;
}

function badgeOf({ status }: Photo, made: Made | undefined): string {
  if (made && isOpen(made)) return "retrying";
  return status === "approved" && made?.decision !== "delete" ? "success" : "";
}

function becameWords({ status, decidedBy }: Photo, made: Made | undefined, became: Photo | null | undefined, email: string) {
  if (made && isOpen(made)) return `${savingWords(made.decision, made.photo.status)}${made.progress === "late" ? " (still saving…)" : "…"}`;
  if (made?.decision === "delete" || became === null) return "Deleted";
  if (!made && !became) return "Already reviewed";
  return <span>{STATUS_WORDS[status]}{decidedBy && <> by {decidedBy === email ? "you" : <Foreign>{decidedBy}</Foreign>}</>}</span>;
}
