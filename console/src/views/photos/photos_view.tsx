import { useEffect, useRef, useState } from "preact/hooks";

import { type PhotoCursor, type PhotoPage, decide, watchPhotos } from "../../data/photos.ts";
import { moderates } from "../../data/session.ts";
import { linkToPhotos } from "../../domain/address.ts";
import { type Decision, type Photo, STATUSES, STATUS_WORDS, type Status, decisionOf, photoOf } from "../../domain/photo.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { PhotoDialog } from "./photo_dialog.tsx";
import { PhotoTile } from "./photo_tile.tsx";

const DONE: Readonly<Record<Decision, string>> = {
  approve: "Approved",
  reject: "Rejected",
  feature: "Featured",
  unfeature: "No longer featured",
  delete: "Deleted",
};

/** The photos of one status, page by page, and the decisions on them. */
export function PhotosView({ status }: { readonly status: Status }) {
  const { staff, eventId } = usePlace();
  const mayDecide = moderates(staff) && staff.isVerified;
  return (
    <>
      <div class="view-head">
        <Heading title="Photos">Photos</Heading>
        <nav class="choice" aria-label="Photos by status">
          {STATUSES.map((one) => (
            <a key={one} class="button" href={linkToPhotos(eventId, one)} aria-current={one === status ? "page" : undefined}>
              {STATUS_WORDS[one]}
            </a>
          ))}
        </nav>
      </div>
      {moderates(staff) && !staff.isVerified && (
        <Notice kind="warning">
          Decisions bear your e-mail address, and yours is not verified yet. Sign in by a mailed link once: that verifies it.
        </Notice>
      )}
      <Pages status={status} mayDecide={mayDecide} />
    </>
  );
}

function Pages({ status, mayDecide }: { readonly status: Status; readonly mayDecide: boolean }) {
  const { sdk, eventId } = usePlace();
  // Where each page that was turned began, the present one last; the first page has no cursor.
  const [cursors, setCursors] = useState<readonly PhotoCursor[]>([]);
  const after = cursors.at(-1) ?? null;
  const page = useLive<PhotoPage>(
    (onValue, onError) => watchPhotos(sdk.db, eventId, status, after, onValue, onError),
    [sdk, eventId, status, after],
  );
  useEffect(() => {
    // A page whose photos are all decided on is empty: back to the page before.
    if (page.state === "there" && !page.value.photos.length && cursors.length) setCursors(cursors.slice(0, -1));
  }, [page]);

  if (page.state === "failed") return <Notice kind="error">{wordsOf(page.error)}</Notice>;
  if (page.state !== "there") return <Skeleton rows={6} label="Loading photos…" />;
  const { photos, next } = page.value;
  return (
    <>
      <Grid photos={photos} mayDecide={mayDecide} status={status} />
      {(cursors.length > 0 || next) && (
        <div class="actions pages">
          <button type="button" aria-disabled={!cursors.length} onClick={() => setCursors(cursors.slice(0, -1))}>Newer</button>
          <span class="quiet-text">Page {cursors.length + 1}</span>
          <button type="button" aria-disabled={!next} onClick={() => next && setCursors([...cursors, next])}>Older</button>
        </div>
      )}
    </>
  );
}

interface GridProps {
  readonly photos: readonly Photo[];
  readonly mayDecide: boolean;
  readonly status: Status;
}

function Grid({ photos, mayDecide, status }: GridProps) {
  const { sdk, staff, eventId } = usePlace();
  const [at, setAt] = useState(0);
  const [openId, setOpenId] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<Photo | null>(null);
  const [told, setTold] = useState("");
  const [error, setError] = useState("");
  const grid = useRef<HTMLUListElement>(null);
  // Whether the keyboard is in the grid: the photo that has it may leave with its decision.
  const isInside = useRef(false);
  const current = Math.min(at, photos.length - 1);

  const focus = (place: number) => {
    setAt(place);
    grid.current?.querySelectorAll<HTMLElement>(".picture")[place]?.focus();
  };
  useEffect(() => {
    if (isInside.current && document.activeElement === document.body && current >= 0) focus(current);
  }, [photos]);

  async function carryOut(photo: Photo, decision: Decision, reason = "") {
    setError("");
    try {
      await decide(sdk.db, eventId, photo.id, decision, staff.email, reason);
      const done = decision === "reject" && photo.status === "approved" ? "Taken down" : DONE[decision];
      setTold(`${done}: ${photoOf(photo)}.`);
    } catch (caught) {
      setTold("");
      setError(wordsOf(caught));
    }
  }
  const ask = (photo: Photo, decision: Decision) => {
    if (decision === "delete") setDeleting(photo);
    else void carryOut(photo, decision);
  };

  function onKey(event: KeyboardEvent) {
    const photo = photos[current];
    if (!photo || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepOf(event.key, grid.current);
    if (step !== null) {
      event.preventDefault();
      focus(Math.max(0, Math.min(photos.length - 1, current + step)));
      return;
    }
    const decision = mayDecide ? decisionOf(event.key, photo) : null;
    if (!decision) return;
    event.preventDefault();
    ask(photo, decision);
  }

  const open = photos.find(({ id }) => id === openId);
  return (
    <>
      {mayDecide && photos.length > 0 && (
        <p class="quiet-text keys">
          By keyboard: arrows to move,{" "}
          {status !== "approved" && <><kbd>A</kbd> approve, </>}
          {status !== "rejected" && <><kbd>R</kbd> {status === "approved" ? "take down" : "reject"}, </>}
          {status === "approved" && <><kbd>F</kbd> feature, </>}
          <kbd>Delete</kbd> delete, <kbd>Enter</kbd> look closely.
        </p>
      )}
      <p class="quiet-text" role="status">{told}</p>
      {error && <Notice kind="error">{error}</Notice>}
      {photos.length === 0 && <Nothing status={status} />}
      <ul
        ref={grid}
        class="photos"
        aria-label={`${STATUS_WORDS[status]} photos`}
        onKeyDown={onKey}
        onFocusIn={() => (isInside.current = true)}
        onFocusOut={(event) => {
          // A photo that leaves takes the focus with it, to nowhere; anything else goes somewhere.
          if (event.relatedTarget) isInside.current = grid.current?.contains(event.relatedTarget as Node) ?? false;
        }}
      >
        {photos.map((photo, place) => (
          <PhotoTile
            key={photo.id}
            photo={photo}
            mayDecide={mayDecide}
            isCurrent={place === current}
            onFocus={() => setAt(place)}
            onOpen={() => setOpenId(photo.id)}
            onDecide={(decision) => ask(photo, decision)}
          />
        ))}
      </ul>
      {open && (
        <PhotoDialog
          photo={open}
          mayDecide={mayDecide}
          onDecide={(decision, reason) => {
            setOpenId(null);
            if (decision === "delete") setDeleting(open);
            else void carryOut(open, decision, reason);
          }}
          onClose={() => setOpenId(null)}
        />
      )}
      {deleting && (
        <DeleteDialog photo={deleting} run={() => carryOut(deleting, "delete")} onClose={() => setDeleting(null)} />
      )}
    </>
  );
}

// How many photos a key moves on; null where it is no arrow.
function stepOf(key: string, grid: HTMLElement | null): number | null {
  const columns = grid ? getComputedStyle(grid).gridTemplateColumns.split(" ").length : 1;
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  return steps[key] ?? null;
}

function Nothing({ status }: { readonly status: Status }) {
  const words = {
    pending: ["No photo is waiting", "Guests' photos show here as soon as they are uploaded, unless the event shows them at once."],
    approved: ["No photo is approved yet", "Approved photos are the ones that guests see, and that a recap holds."],
    rejected: ["No photo is rejected", "Rejected photos stay here, and can be approved after all."],
  }[status];
  return <Empty title={words[0] ?? ""}><p>{words[1]}</p></Empty>;
}

interface DeleteProps {
  readonly photo: Photo;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

function DeleteDialog({ photo, run, onClose }: DeleteProps) {
  const work = useWork();
  const remove = () =>
    work.run(async () => {
      await run();
      onClose();
    });
  return (
    <Dialog title="Delete this photo?" onClose={onClose}>
      <div class="stack">
        <p>The <bdi>{photoOf(photo)}</bdi> cannot be brought back. To hide a photo only, reject it or take it down.</p>
        <div class="actions end">
          <button type="button" onClick={onClose}>Keep it</button>
          <ActionButton busy={work.isBusy} kind="danger" onClick={remove}>Delete</ActionButton>
        </div>
      </div>
    </Dialog>
  );
}
