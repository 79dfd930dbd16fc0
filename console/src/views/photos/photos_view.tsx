import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Made, isOpen } from "../../data/decisions.ts";
import { type List, hearFrom } from "../../data/listen.ts";
import { GUEST_PHOTOS, PHOTOS_PAGE, readPhoto, watchPhotos, watchPhotosOf } from "../../data/photos.ts";
import { moderates } from "../../data/session.ts";
import { linkTo } from "../../domain/address.ts";
import { EMPTY, type Grid, arranged } from "../../domain/grid.ts";
import { type Decision, type Photo, STATUSES, STATUS_WORDS, type Status, decidedAs, decisionOf, decisionWords, decisions as decisionsOn, photoOf, undoing } from "../../domain/photo.ts";
import { count } from "../../domain/words.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Ask, Field } from "../../ui/form.tsx";
import { Heading } from "../../ui/heading.tsx";
import { type LiveList, More, Shown, useList } from "../../ui/live.tsx";
import { Connection } from "../../ui/news.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { Picture } from "../../ui/picture.tsx";
import { usePlace } from "../place.ts";
import { PhotoDialog } from "./photo_dialog.tsx";
import { type Acts, type Drawn, madeOf, tileOf } from "./photo_tile.tsx";

/** The photos of one status, page by page or of one guest, and the decisions on them. */
export function PhotosView({ status }: { readonly status: Status }) {
  const { eventId, waiting } = usePlace();
  const [typed, setTyped] = useState("");
  const [guest, setGuest] = useState("");
  const [isSearching, setSearching] = useState(false);
  useEffect(() => {
    // Not with each letter: every result is a billed read.
    const timer = setTimeout(() => setGuest(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="column photos-view">
      <div class="view-head">
        <Heading title="Photos">Photos</Heading>
        <nav class="choice" aria-label="Photos by status">
          {STATUSES.map((one) => (
            <a key={one} class="button" href={linkTo("photos", eventId, { status: one })} aria-current={one === status ? "page" : undefined}>
              {STATUS_WORDS[one]}
            </a>
          ))}
        </nav>
        <form class={`filters${isSearching ? " open" : ""}`} role="search" aria-label="Photos" onSubmit={(event) => event.preventDefault()}>
          {/* On a phone the photos come first. */}
          <button type="button" class="filter-toggle" aria-expanded={isSearching} onClick={() => setSearching(!isSearching)}>Search</button>
          <Field label="Search guests" type="search" value={typed} placeholder="Name or email" onChange={setTyped} />
        </form>
      </div>
      {guest ? <OfGuest key={guest} status={status} guest={guest} /> : status === "pending" ? <PhotoList status={status} list={waiting} /> : <Decided status={status} />}
    </div>
  );
}

const TYPING_MS = 300;

function Decided({ status }: { readonly status: Status }) {
  const { sdk, eventId } = usePlace();
  return <PhotoList status={status} list={useList((part) => watchPhotos(sdk.db, eventId, status, part), PHOTOS_PAGE, [sdk, eventId])} />;
}

function OfGuest({ status, guest }: { readonly status: Status; readonly guest: string }) {
  const { sdk, eventId } = usePlace();
  const list = useList((part) => watchPhotosOf(sdk.db, eventId, status, guest, part), GUEST_PHOTOS, [sdk, eventId]);
  return <PhotoList status={status} list={list} guest={guest} />;
}

interface ListProps {
  readonly list: LiveList<Photo>;
  readonly status: Status;
  /** Whose photos were looked for; empty: everybody's. */
  readonly guest?: string;
}

function PhotoList({ list, status, guest = "" }: ListProps) {
  const { sdk, eventId } = usePlace();
  const [isLive, setLive] = useState(true);
  return (
    <Shown live={list} rows={6} label="Loading photos…">
      {(known) => (
        <>
          <Connection news={list} ask={() => hearFrom(sdk.db, eventId, "photos")} onLive={setLive} />
          <PhotoGrid key={list.part} list={list} known={known} status={status} guest={guest} isLive={isLive} />
        </>
      )}
    </Shown>
  );
}

interface GridProps extends Required<ListProps> {
  readonly known: List<Photo>;
  /** Whether the server was heard from just now. */
  readonly isLive: boolean;
}

function PhotoGrid({ list, known, status, guest, isLive }: GridProps) {
  const { staff, decisions } = usePlace();
  const { email } = staff;
  const mayDecide = moderates(staff);
  const [, drawAgain] = useState(0);
  useEffect(() => decisions.watch(() => drawAgain((times) => times + 1)), [decisions]);
  const [beginning, setBeginning] = useState(0);
  const shown = useRef<Grid>(EMPTY);
  const grid = useMemo(() => (shown.current = arranged(shown.current, known.items, orderOf(known, status, guest))), [known, beginning]);
  const became = useBecame(grid.gone);
  useEffect(() => decisions.confirm(known.items), [known]);
  useEffect(() => decisions.lookAgain(grid.gone), [grid]);
  const [currentId, setCurrentId] = useState<string | null>(null);
  const [openId, setOpenId] = useState<string | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [told, setTold] = useState("");
  // The photos that were shown when the question was asked, and no later ones.
  const [toDelete, setToDelete] = useState<Photo | null>(null);
  const [toApprove, setToApprove] = useState<readonly Photo[]>([]);
  const element = useRef<HTMLUListElement>(null);
  const loaded = useRef(new Set<string>());
  const drawn = useRef<Drawn>(new Map());

  const made = (photo: Photo) => decisions.made.get(photo.id);
  const present = (photo: Photo) => madeOf(became.get(photo.id) ?? photo, made(photo), email);
  const isLeft = (photo: Photo) => present(photo).status === status && !grid.gone.has(photo.id) && made(photo)?.decision !== "delete";
  const isSeen = (photo: Photo) => loaded.current.has(photo.id);
  const left = grid.photos.filter(isLeft);
  const all = [...decisions.made.values()];
  const refused = all.filter(({ progress }) => progress === "refused");
  const late = all.filter(({ progress }) => progress === "late").length;
  const latest = all.at(-1);
  const current = grid.photos.find(({ id }) => id === currentId) ?? left[0] ?? grid.photos[0];
  const selected = left.filter(({ id }) => chosen.has(id));

  const focus = (photo: Photo | undefined) => {
    if (!photo) return;
    setCurrentId(photo.id);
    element.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(photo.id)}"] .picture`)?.focus();
  };
  const choose = ({ id }: Photo) => setChosen(new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id]));
  const decide = (photo: Photo, decision: Decision, reason = "") => {
    setTold("");
    if (decision === "delete" && toDelete !== photo) return setToDelete(photo);
    decisions.make(photo, decision, reason);
    return undefined;
  };
  const decideAll = (photos: readonly Photo[], decision: Decision) => {
    for (const photo of photos) decide(photo, decision);
    setChosen(new Set());
  };
  const undo = (photo: Photo) => {
    const latest = made(photo);
    const back = latest?.canUndo ? undoing(latest.decision) : null;
    if (latest && back) decisions.make(decidedAs(latest.photo, latest.decision, email), back);
  };
  const putAway = () => {
    decisions.clear();
    shown.current = EMPTY;
    setBeginning(beginning + 1);
  };
  const acts = useRef<Acts>(null) as RefObject<Acts>;
  acts.current = {
    focus: ({ id }) => setCurrentId(id),
    open: ({ id }) => setOpenId(id),
    choose,
    decide,
    undo,
    loaded: ({ id }) => void loaded.current.add(id),
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
    const key = event.key.toLowerCase();
    if (key === "u") return undo(made(photo) ? photo : (latest?.photo ?? photo));
    if (!isLeft(photo)) return;
    if (key === "x") return choose(photo);
    const decision = decisionOf(key, present(photo));
    if (!decision) return;
    event.preventDefault();
    if (decision === "approve" && !isSeen(photo)) return setTold(`Wait for the picture to load before approving it: ${photoOf(photo)}`);
    decide(photo, decision);
    // The focus moves to the next open photo, or back to an earlier one after the last.
    if (decision === "approve" || decision === "reject") focus(grid.photos.slice(place + 1).find(isLeft) ?? grid.photos.find((one) => one !== photo && isLeft(one)));
  }

  const open = grid.photos.find(({ id }) => id === openId);
  const done = grid.photos.length - left.length + refused.length;
  const toldDone = told || (latest?.progress === "done" ? `${doneWords(latest.decision, latest.photo.status)}: ${photoOf(latest.photo)}` : "");
  const mayApproveAll = mayDecide && status === "pending" && left.length > 1 && selected.length === 0;
  const hasBar = toldDone || late + refused.length + selected.length + done + grid.heldBack > 0 || mayApproveAll;
  return (
    <>
      {mayDecide && grid.photos.length > 0 && (
        <p class="quiet-text keys">
          By keyboard: arrows to move,{" "}
          {status !== "approved" && <><kbd>A</kbd> approve, </>}
          {status !== "rejected" && <><kbd>R</kbd> {status === "approved" ? "hide" : "reject"}, </>}
          {status === "approved" && <><kbd>F</kbd> highlight, </>}
          <kbd>U</kbd> undo, <kbd>X</kbd> select, <kbd>Delete</kbd> delete, <kbd>Enter</kbd> view.
        </p>
      )}
      <ul ref={element} class="photos" aria-label={`${STATUS_WORDS[status]} photos`} onKeyDown={onKey}>
        {grid.photos.map((photo) => tileOf({
          photo,
          made: made(photo),
          email,
          became: became.get(photo.id),
          isLeft: isLeft(photo),
          mayDecide,
          isChosen: chosen.has(photo.id),
          isCurrent: photo === current,
          acts,
        }, drawn.current))}
      </ul>
      {left.length === 0 && !known.hasMore && <Nothing status={status} guest={guest} isLive={isLive} />}
      {guest ? known.hasMore && <p class="quiet-text">Showing the first {GUEST_PHOTOS}. Keep typing to narrow it down.</p> : <More list={list} />}
      {/* Below the photos, so that none moves under the hand. */}
      {hasBar && (
        <div class="column grid-actions">
          {late > 0 && (
            <Notice kind="warning">
              {count(late, "change hasn't", "changes haven't")} been saved yet. Keep this page open; we'll keep trying.
            </Notice>
          )}
          {refused.length > 0 && <Notice kind="error"><Refusals refused={refused} /></Notice>}
          <p class="quiet-text" role="status">{toldDone}</p>
          <div class="actions">
            {selected.length > 0 && (
              <>
                {decisionsOn({ status, featured: false }).filter((one) => one === "approve" || one === "reject").map((one) => (
                  <button key={one} type="button" onClick={() => decideAll(selected, one)}>{decisionWords(one, status)} {selected.length}</button>
                ))}
                <button type="button" class="quiet" onClick={() => setChosen(new Set())}>Clear selection</button>
              </>
            )}
            {mayApproveAll && <button type="button" onClick={() => setToApprove(left)}>Approve all {left.length} on this page…</button>}
            {done > 0 && <button type="button" class="quiet" onClick={putAway}>Hide {done} reviewed</button>}
            {grid.heldBack > 0 && <button type="button" onClick={putAway}>Show {count(grid.heldBack, "newer photo", "newer photos")}</button>}
          </div>
        </div>
      )}
      {open && (
        <PhotoDialog
          photo={present(open)}
          isDeleted={became.get(open.id) === null || made(open)?.decision === "delete"}
          mayDecide={mayDecide && isLeft(open) && !isOpen(made(open))}
          onDecide={(decision, reason) => {
            setOpenId(null);
            decide(open, decision, reason);
          }}
          onClose={() => setOpenId(null)}
        />
      )}
      {toApprove.length > 0 && (
        <ApproveAll
          photos={toApprove.filter(isSeen)}
          unseen={toApprove.length - toApprove.filter(isSeen).length}
          onApprove={(photos) => decideAll(photos.filter(isLeft), "approve")}
          onClose={() => setToApprove([])}
        />
      )}
      {toDelete && (
        <Ask title="Delete this photo?" action="Delete" kind="danger" close="Keep it" run={async () => void decide(toDelete, "delete")} onClose={() => setToDelete(null)}>
          <div class="large"><Picture url={toDelete.url} alt={photoOf(toDelete)} /></div>
          <p><bdi>{capital(photoOf(toDelete))}</bdi>: this can't be undone. To hide the photo instead, {toDelete.status === "approved" ? "hide" : "reject"} it.</p>
        </Ask>
      )}
    </>
  );
}

// The states of photos that others have decided on: each is read once.
function useBecame(gone: ReadonlySet<string>): ReadonlyMap<string, Photo | null> {
  const { sdk, eventId, decisions } = usePlace();
  const [known, setKnown] = useState<ReadonlyMap<string, Photo | null>>(new Map());
  const asked = useRef(new Set<string>());
  useEffect(() => {
    for (const id of asked.current) if (!gone.has(id)) asked.current.delete(id);
    for (const id of gone) {
      if (asked.current.has(id) || decisions.made.has(id)) continue;
      asked.current.add(id);
      readPhoto(sdk.db, eventId, id).then((photo) => setKnown((before) => new Map(before).set(id, photo)), () => asked.current.delete(id));
    }
  }, [gone]);
  return useMemo(() => new Map([...known].filter(([id]) => gone.has(id))), [known, gone]);
}

// Returns the order in which a list continues after its last photo; null if it ends there.
function orderOf({ hasMore }: List<Photo>, status: Status, guest: string): "oldest" | "newest" | null {
  if (!hasMore || guest) return null;
  return status === "pending" ? "oldest" : "newest";
}

interface ApproveProps {
  readonly photos: readonly Photo[];
  /** Photos that are left out, because no one has seen their pictures. */
  readonly unseen: number;
  readonly onApprove: (photos: readonly Photo[]) => void;
  readonly onClose: () => void;
}

function ApproveAll({ photos, unseen, onApprove, onClose }: ApproveProps) {
  return (
    <Ask title={`Approve ${count(photos.length, "photo", "photos")}?`} action="Approve all" disabled={photos.length === 0} run={async () => onApprove(photos)} onClose={onClose}>
      {unseen > 0 && <Notice kind="warning">{count(unseen, "photo you haven't seen yet is", "photos you haven't seen yet are")} not included. Scroll down to load {unseen === 1 ? "it" : "them"}.</Notice>}
      <p>They'll appear on the wall right away, and your webhooks will be notified. New uploads won't be included.</p>
    </Ask>
  );
}

/** Why decisions were refused: at one photo here, at several beside each. */
function Refusals({ refused: [first, ...others] }: { readonly refused: readonly Made[] }) {
  if (!first) return null;
  if (others.length) return <>{count(others.length + 1, "change", "changes")} couldn't be saved. See each photo for details.</>;
  return <><bdi>{capital(photoOf(first.photo))}</bdi>: {wordsOf(first.error)}</>;
}

function doneWords(decision: Decision, status: Status): string {
  if (decision === "reject") return status === "approved" ? "Hidden" : "Rejected";
  return { approve: "Approved", feature: "Added to highlights", unfeature: "Removed from highlights", delete: "Deleted" }[decision];
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How many photos a key moves on; null if it is no arrow.
function stepOf(key: string, grid: HTMLElement | null): number | null {
  const aside = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (aside || !down || !grid) return aside ?? null;
  // Asking for it lays all tiles out.
  return down * getComputedStyle(grid).gridTemplateColumns.split(" ").length;
}

const NOTHING: Readonly<Record<Status, readonly [string, string]>> = {
  pending: ["All caught up", "New uploads that need approval appear here."],
  approved: ["No approved photos yet", "Photos you approve appear on the wall and in the recap."],
  rejected: ["No rejected photos", "Rejected photos are kept here in case you change your mind."],
};

function Nothing({ status, guest, isLive }: Pick<GridProps, "status" | "guest" | "isLive">) {
  const [title, words] = NOTHING[status];
  if (!isLive) return <Empty title="Can't reach the server"><p>As of the last update: {title.charAt(0).toLowerCase() + title.slice(1)}. That may have changed.</p></Empty>;
  if (guest) return <Empty title={`${title} for this guest`}><p>Search by the start of a name, or by a full email address.</p></Empty>;
  return <Empty title={title}><p>{words}</p></Empty>;
}
