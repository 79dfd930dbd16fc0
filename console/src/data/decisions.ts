// Decisions on photos that this page has made: each is kept until the server has confirmed it.

import type { Firestore } from "firebase/firestore";

import { type Decision, type Photo, decisionWords, photoOf } from "../domain/photo.ts";
import { NoAnswerError } from "./errors.ts";
import type { Person } from "./fields.ts";
import { keepOpenWork } from "./open_work.ts";
import { PHOTOS_A_COMMIT, decideAll, isDone } from "./photos.ts";

/** `late`: not confirmed for a while, and tried again. */
export type Progress = "sending" | "late" | "done" | "refused";

export interface Made {
  readonly photo: Photo;
  readonly decision: Decision;
  readonly reason: string;
  readonly progress: Progress;
  /** Why it was refused. */
  readonly error: unknown;
  /** Whether it can be undone: not by the second tap of the hand that has just made it. */
  readonly canUndo: boolean;
}

/** Milliseconds after which an unconfirmed decision is shown as late. */
const LATE_MS = 3000;
const AGAIN_MS = 5000;
const SECOND_TAP_MS = 1500;
/** Commits at a time: more would only share the line. */
const COMMITS_AT_ONCE = 2;
/** After which a request is ended, and its photos are looked at again. */
const REQUEST_MS = 60_000;

/** The decisions of one person on photos of one event. */
export class Decisions {
  #made: ReadonlyMap<string, Made> = new Map();
  #listeners = new Set<() => void>();
  /** Ids of photos whose decision no request carries out yet. */
  #waiting: string[] = [];
  #running = new Map<readonly string[], AbortController>();

  constructor(
    private readonly db: Firestore,
    private readonly eventId: string,
    private readonly by: Person,
  ) {}

  /** The latest decision on each photo, by its id. */
  get made(): ReadonlyMap<string, Made> {
    return this.#made;
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  make(photo: Photo, decision: Decision, reason = ""): void {
    if (isOpen(this.#made.get(photo.id))) return;
    const made: Made = { photo, decision, reason, progress: "sending", error: null, canUndo: false };
    // The latest decision comes last.
    this.#set(new Map([...this.#made].filter(([id]) => id !== photo.id)));
    this.#put(made);
    setTimeout(() => this.#made.get(photo.id) === made && this.#put({ ...made, progress: "late" }), LATE_MS);
    this.#waiting.push(photo.id);
    // Decisions of the same moment go together.
    queueMicrotask(() => this.#start());
  }

  /** Confirms decisions that these photos of the server show, even if the response is missing. */
  confirm(photos: readonly Photo[]): void {
    for (const photo of photos) {
      const made = this.#made.get(photo.id);
      if (made && isOpen(made) && isDone(made.decision, made.photo, photo, this.by.email)) this.#finish(made, null);
    }
  }

  /** Looks again at photos that have left their list while the response to a decision is late. */
  lookAgain(gone: ReadonlySet<string>): void {
    for (const [ids, end] of this.#running) {
      if (ids.some((id) => gone.has(id) && this.#made.get(id)?.progress === "late")) end.abort();
    }
  }

  /** Forgets the decisions that are through. */
  clear(): void {
    this.#set(new Map([...this.#made].filter(([, made]) => isOpen(made))));
  }

  #start(): void {
    while (this.#running.size < COMMITS_AT_ONCE && this.#waiting.length) void this.#run(this.#waiting.splice(0, PHOTOS_A_COMMIT));
  }

  async #run(ids: readonly string[]): Promise<void> {
    const wanted = ids.flatMap((id) => this.#open(id) ?? []);
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), REQUEST_MS);
    this.#running.set(ids, end);
    try {
      const outcomes = await decideAll(this.db, this.eventId, wanted, this.by, end.signal);
      for (const { photo } of wanted) this.#finish(this.#open(photo.id), outcomes.get(photo.id));
    } catch (error) {
      if (error instanceof NoAnswerError) {
        // Whether it was done is not known, and doing it twice changes nothing.
        const open = ids.flatMap((id) => this.#open(id) ?? []);
        for (const made of open) this.#put({ ...made, progress: "late" });
        if (!error.isTimeout) await again();
        this.#waiting.unshift(...open.map(({ photo }) => photo.id));
      } else for (const id of ids) this.#finish(this.#open(id), error);
    } finally {
      clearTimeout(timer);
      this.#running.delete(ids);
      this.#start();
    }
  }

  #open(id: string): Made | undefined {
    const made = this.#made.get(id);
    return isOpen(made) ? made : undefined;
  }

  #finish(made: Made | undefined, error: unknown): void {
    if (!made) return;
    const { id } = made.photo;
    if (error) return this.#put({ ...made, progress: "refused", error });
    const done: Made = { ...made, progress: "done" };
    this.#put(done);
    setTimeout(() => this.#made.get(id) === done && this.#put({ ...done, canUndo: made.decision !== "delete" }), SECOND_TAP_MS);
  }

  #put(made: Made): void {
    this.#set(new Map(this.#made).set(made.photo.id, made));
  }

  #set(made: ReadonlyMap<string, Made>): void {
    this.#made = made;
    const open = [...made.values()].filter(isOpen);
    keepOpenWork(open.map(({ decision, photo }) => `${decisionWords(decision, photo.status)}: ${photoOf(photo)}`));
    // The browser asks before it closes the page.
    (open.length ? addEventListener : removeEventListener)("beforeunload", ask);
    for (const listener of this.#listeners) listener();
  }
}

export function isOpen(made: Made | undefined): boolean {
  return made?.progress === "sending" || made?.progress === "late";
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

// After a while, or as soon as the network is back.
function again(): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      removeEventListener("online", go);
      resolve();
    };
    const timer = setTimeout(go, AGAIN_MS);
    addEventListener("online", go);
  });
}
