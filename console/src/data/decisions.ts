// Decisions on photos that this page has made: each is kept until the server has confirmed it.

import type { Firestore } from "firebase/firestore";

import { type Decision, type Photo, decisionWords, photoOf } from "../domain/photo.ts";
import { NoAnswerError } from "./errors.ts";
import type { Person } from "./fields.ts";
import { keepOpenWork } from "./open_work.ts";
import { decide } from "./photos.ts";

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

/** After which somebody has to know that a decision is not confirmed. */
const LATE_MS = 3000;
const AGAIN_MS = 5000;
const SECOND_TAP_MS = 1500;

/** The decisions of one person on photos of one event. */
export class Decisions {
  #made: ReadonlyMap<string, Made> = new Map();
  #listeners = new Set<() => void>();

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

  async make(photo: Photo, decision: Decision, reason = ""): Promise<void> {
    if (isOpen(this.#made.get(photo.id))) return;
    const made: Made = { photo, decision, reason, progress: "sending", error: null, canUndo: false };
    // The latest decision stands last.
    this.#set(new Map([...this.#made].filter(([id]) => id !== photo.id)));
    this.#put(made);
    const late = setTimeout(() => this.#put({ ...made, progress: "late" }), LATE_MS);
    try {
      while (!(await this.#isCarriedOut(made))) {
        this.#put({ ...made, progress: "late" });
        await again();
      }
      const done: Made = { ...made, progress: "done" };
      this.#put(done);
      setTimeout(() => this.#made.get(photo.id) === done && this.#put({ ...done, canUndo: decision !== "delete" }), SECOND_TAP_MS);
    } catch (error) {
      this.#put({ ...made, progress: "refused", error });
    } finally {
      clearTimeout(late);
    }
  }

  /** Forgets the decisions that are through. */
  clear(): void {
    this.#set(new Map([...this.#made].filter(([, made]) => isOpen(made))));
  }

  // False where no answer came: whether it was done is not known, and doing it twice changes nothing.
  async #isCarriedOut({ photo, decision, reason }: Made): Promise<boolean> {
    try {
      await decide(this.db, this.eventId, photo, decision, this.by, reason);
      return true;
    } catch (error) {
      const { code } = error as { code?: string };
      if (error instanceof NoAnswerError || code === "unavailable" || code === "deadline-exceeded") return false;
      throw error;
    }
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
