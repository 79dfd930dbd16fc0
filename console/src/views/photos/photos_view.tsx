import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { isOpen } from "../../data/decisions.ts";
import type { List } from "../../data/listen.ts";
import { PHOTOS_PAGE, watchPhotos } from "../../data/photos.ts";
import { moderates } from "../../data/session.ts";
import { linkTo } from "../../domain/address.ts";
import { EMPTY, type Grid, arranged } from "../../domain/grid.ts";
import { type Decision, type Photo, STATUSES, STATUS_WORDS, type Status, decidedAs, decisionOf, photoOf, undoing } from "../../domain/photo.ts";
import { count } from "../../domain/words.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Ask } from "../../ui/form.tsx";
import { Heading } from "../../ui/heading.tsx";
import { type LiveList, ShownList, useList } from "../../ui/live.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { Picture } from "../../ui/picture.tsx";
import { usePlace } from "../place.ts";
import { PhotoDialog } from "./photo_dialog.tsx";
import { PhotoTile } from "./photo_tile.tsx";

/** The photos of one status, as many as are asked for, and the decisions on them. */
export function PhotosView({ status }: { readonly status: Status }) {
  const { staff, eventId, waiting } = usePlace();
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Photos">Photos</Heading>
        <nav class="choice" aria-label="Photos by status">
          {STATUSES.map((one) => (
            <a key={one} class="button" href={linkTo("photos", eventId, { status: one })} aria-current={one === status ? "page" : undefined}>
              {STATUS_WORDS[one]}
            </a>
          ))}
        </nav>
      </div>
      {status === "pending" ? <PhotoList status={status} list={waiting} /> : <Decided status={status} />}
    </div>
  );
}

function Decided({ status }: { readonly status: Status }) {
  const { sdk, eventId } = usePlace();
  return <PhotoList status={status} list={useList((most) => watchPhotos(sdk.db, eventId, status, most), PHOTOS_PAGE, [sdk, eventId])} />;
}

function PhotoList({ list, status }: { readonly list: LiveList<Photo>; readonly status: Status }) {
  return (
    <ShownList list={list} rows={6} label="Loading photos…">
      {(known) => <PhotoGrid list={known} status={status} />}
    </ShownList>
  );
}

function PhotoGrid({ list, status }: { readonly list: List<Photo>; readonly status: Status }) {
  const { staff, decisions } = usePlace();
  const mayDecide = moderates(staff);
  const [, drawAgain] = useState(0);
  useEffect(() => decisions.watch(() => drawAgain((times) => times + 1)), [decisions]);
  const [beginning, setBeginning] = useState(0);
  const shown = useRef<Grid>(EMPTY);
  const grid = useMemo(() => (shown.current = arranged(shown.current, list.items, !list.hasMore)), [list, beginning]);
  const [currentId, setCurrentId] = useState<string | null>(null);
  const [openId, setOpenId] = useState<string | null>(null);
  // What a question is about: the photos that were shown when it was asked, and no later one.
  const [toDelete, setToDelete] = useState<Photo | null>(null);
  const [toApprove, setToApprove] = useState<readonly Photo[]>([]);
  const element = useRef<HTMLUListElement>(null);

  const made = (photo: Photo) => decisions.made.get(photo.id);
  // As it stands by the decision that was made here.
  const present = (photo: Photo): Photo => {
    const latest = made(photo);
    return latest && latest.progress !== "refused" ? decidedAs(photo, latest.decision, staff.email) : photo;
  };
  const isLeft = (photo: Photo) => present(photo).status === status && !grid.gone.has(photo.id) && made(photo)?.decision !== "delete";
  const left = grid.photos.filter(isLeft);
  const refused = [...decisions.made.values()].filter(({ progress }) => progress === "refused");
  const late = [...decisions.made.values()].filter(({ progress }) => progress === "late").length;
  const latest = [...decisions.made.values()].at(-1);
  const current = grid.photos.find(({ id }) => id === currentId) ?? left[0] ?? grid.photos[0];

  const focus = (photo: Photo | undefined) => {
    if (!photo) return;
    setCurrentId(photo.id);
    element.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(photo.id)}"] .picture`)?.focus();
  };
  const decide = (photo: Photo, decision: Decision, reason = "") => {
    if (decision === "delete" && toDelete !== photo) return setToDelete(photo);
    void decisions.make(photo, decision, reason);
    return undefined;
  };
  const undo = (photo: Photo) => {
    const latest = made(photo);
    const back = latest?.progress === "done" ? undoing(latest.decision) : null;
    if (latest && back) void decisions.make(decidedAs(latest.photo, latest.decision, staff.email), back);
  };
  const putAway = () => {
    decisions.clear();
    shown.current = EMPTY;
    setBeginning(beginning + 1);
  };

  function onKey(event: KeyboardEvent) {
    // The photo under the keyboard, as it is shown.
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset["id"];
    const place = grid.photos.findIndex((one) => one.id === id);
    const photo = grid.photos[place];
    if (!photo || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepOf(event.key, element.current);
    if (step !== null) {
      event.preventDefault();
      focus(grid.photos[Math.max(0, Math.min(grid.photos.length - 1, place + step))]);
      return;
    }
    // A key that is held down decides once.
    if (event.repeat || !mayDecide) return;
    if (event.key.toLowerCase() === "u") return undo(made(photo) ? photo : (latest?.photo ?? photo));
    const decision = isLeft(photo) ? decisionOf(event.key, photo) : null;
    if (!decision) return;
    event.preventDefault();
    decide(photo, decision);
    // On to the next one that is left; back where it was the last.
    if (decision === "approve" || decision === "reject") focus(grid.photos.slice(place + 1).find(isLeft) ?? grid.photos.find((one) => one !== photo && isLeft(one)));
  }

  const open = grid.photos.find(({ id }) => id === openId);
  const done = grid.photos.length - left.length;
  return (
    <>
      {mayDecide && grid.photos.length > 0 && (
        <p class="quiet-text keys">
          By keyboard: arrows to move,{" "}
          {status !== "approved" && <><kbd>A</kbd> approve, </>}
          {status !== "rejected" && <><kbd>R</kbd> {status === "approved" ? "take down" : "reject"}, </>}
          {status === "approved" && <><kbd>F</kbd> feature, </>}
          <kbd>U</kbd> undo, <kbd>Delete</kbd> delete, <kbd>Enter</kbd> look closely.
        </p>
      )}
      <ul ref={element} class="photos" aria-label={`${STATUS_WORDS[status]} photos`} onKeyDown={onKey}>
        {grid.photos.map((photo) => (
          <PhotoTile
            key={photo.id}
            photo={present(photo)}
            made={made(photo)}
            isLeft={isLeft(photo)}
            mayDecide={mayDecide}
            isCurrent={photo === current}
            onFocus={() => setCurrentId(photo.id)}
            onOpen={() => setOpenId(photo.id)}
            onDecide={(decision) => decide(photo, decision)}
            onUndo={() => undo(photo)}
          />
        ))}
      </ul>
      {left.length === 0 && <Nothing status={status} />}
      {/* Below the photos, so that none moves under the hand. */}
      {(mayDecide || done > 0 || grid.heldBack > 0) && (
        <div class="column grid-actions">
          {late > 0 && (
            <Notice kind="warning">
              {count(late, "decision is", "decisions are")} not confirmed yet, and kept here: leave this page open. The service is asked again until it answers.
            </Notice>
          )}
          {refused.map(({ photo, error }) => (
            <Notice key={photo.id} kind="error"><bdi>{capital(photoOf(photo))}</bdi>: {wordsOf(error)}</Notice>
          ))}
          <p class="quiet-text" role="status">{latest?.progress === "done" && `${doneWords(latest.decision, latest.photo.status)}: ${photoOf(latest.photo)}.`}</p>
          <div class="actions">
            {mayDecide && status === "pending" && left.length > 1 && <button type="button" onClick={() => setToApprove(left)}>Approve all {left.length} shown…</button>}
            {done > 0 && <button type="button" class="quiet" onClick={putAway}>Put away {done}<span class="unseen"> decided</span></button>}
            {grid.heldBack > 0 && <button type="button" onClick={putAway}>Show {count(grid.heldBack, "newer photo", "newer photos")}</button>}
          </div>
        </div>
      )}
      {open && (
        <PhotoDialog
          photo={present(open)}
          mayDecide={mayDecide && isLeft(open) && !isOpen(made(open))}
          onDecide={(decision, reason) => {
            setOpenId(null);
            decide(open, decision, reason);
          }}
          onClose={() => setOpenId(null)}
        />
      )}
      {toApprove.length > 0 && (
        <Ask
          title={`Approve ${count(toApprove.length, "photo", "photos")}?`}
          action="Approve all"
          run={async () => toApprove.filter(isLeft).forEach((photo) => decide(photo, "approve"))}
          onClose={() => setToApprove([])}
        >
          <p>Guests see them at once, and the receivers are notified. Photos that are uploaded meanwhile go on waiting.</p>
        </Ask>
      )}
      {toDelete && (
        <Ask title="Delete this photo?" action="Delete" kind="danger" close="Keep it" run={async () => void decide(toDelete, "delete")} onClose={() => setToDelete(null)}>
          <div class="large"><Picture url={toDelete.thumbUrl ?? toDelete.url} alt={photoOf(toDelete)} /></div>
          <p>The <bdi>{photoOf(toDelete)}</bdi> cannot be brought back. To hide a photo only, reject it or take it down.</p>
        </Ask>
      )}
    </>
  );
}

function doneWords(decision: Decision, status: Status): string {
  if (decision === "reject") return status === "approved" ? "Taken down" : "Rejected";
  return { approve: "Approved", feature: "Featured", unfeature: "No longer featured", delete: "Deleted" }[decision];
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How many photos a key moves on; null where it is no arrow.
function stepOf(key: string, grid: HTMLElement | null): number | null {
  const columns = grid ? getComputedStyle(grid).gridTemplateColumns.split(" ").length : 1;
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  return steps[key] ?? null;
}

const NOTHING: Readonly<Record<Status, readonly [string, string]>> = {
  pending: ["No photo is waiting", "Guests' photos show here as soon as they are uploaded, unless the event shows them at once."],
  approved: ["No photo is approved yet", "Approved photos are the ones that guests see, and that a recap holds."],
  rejected: ["No photo is rejected", "Rejected photos stay here, and can be approved after all."],
};

function Nothing({ status }: { readonly status: Status }) {
  const [title, words] = NOTHING[status];
  return <Empty title={title}><p>{words}</p></Empty>;
}
