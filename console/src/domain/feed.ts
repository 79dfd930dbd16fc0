// A list of deliveries that grows at both ends: live at the top, page by page at the bottom.
//
// One listener has the newest page. A delivery that newer deliveries push out of the page stays in
// the list. It has a listener of its own while an attempt is due, so that no row shows an old state.

import { type Delivery, compare, isOpen } from "./delivery.ts";

export const PAGE = 25;

export type Stop = () => void;

export interface Head {
  readonly deliveries: readonly Delivery[];
  /** Whether this is what was known before the connection was lost. */
  readonly isStale: boolean;
}

export interface FeedSource {
  /** The newest page, now and whenever it changes. */
  head(limit: number, onHead: (head: Head) => void, onError: (error: unknown) => void): Stop;
  /** The page that follows `after`. */
  page(after: Delivery, limit: number): Promise<readonly Delivery[]>;
  /** One delivery whenever it changes; null where it is gone. */
  one(id: string, onDelivery: (delivery: Delivery | null) => void): Stop;
  /** Whether the list is limited to such deliveries. */
  matches(delivery: Delivery): boolean;
}

export interface FeedState {
  readonly deliveries: readonly Delivery[];
  readonly state: "loading" | "live" | "stale" | "failed";
  readonly error: unknown;
  readonly older: "more" | "loading" | "none" | "failed";
}

export class Feed {
  #rows = new Map<string, Delivery>();
  #watched = new Map<string, Stop>();
  #state: FeedState = { deliveries: [], state: "loading", error: null, older: "none" };
  #stop: Stop;
  #closed = false;
  #begun = false;

  constructor(
    private readonly source: FeedSource,
    private readonly onState: (state: FeedState) => void,
    private readonly page: number = PAGE,
  ) {
    this.#stop = source.head(
      page,
      (head) => this.#onHead(head),
      (error) => this.#publish({ state: "failed", error }),
    );
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
  }

  /** Reads one page more. */
  async loadOlder(): Promise<void> {
    const last = this.#state.deliveries.at(-1);
    if (!last || this.#state.older === "loading" || this.#state.older === "none") return;
    this.#publish({ older: "loading" });
    try {
      const found = await this.source.page(last, this.page);
      if (this.#closed) return;
      for (const one of found) this.#rows.set(one.id, one);
      for (const one of found) if (isOpen(one)) this.#watch(one.id);
      this.#publish({ older: found.length < this.page ? "none" : "more" });
    } catch {
      this.#publish({ older: "failed" });
    }
  }

  #onHead({ deliveries, isStale }: Head): void {
    if (this.#closed) return;
    const isFull = deliveries.length >= this.page;
    const last = deliveries.at(-1);
    const kept = new Map<string, Delivery>();
    for (const one of deliveries) kept.set(one.id, one);
    for (const [id, row] of this.#rows) {
      if (kept.has(id) || !isFull || !last || compare(row.place, last.place) < 0) continue;
      kept.set(id, row);
      if (isOpen(row)) this.#watch(id);
    }
    for (const one of deliveries) this.#unwatch(one.id);
    this.#rows = kept;
    const older = !isFull ? "none" : this.#begun ? this.#state.older : "more";
    this.#begun ||= !isStale;
    this.#publish({ state: isStale ? "stale" : "live", error: null, older });
  }

  #watch(id: string): void {
    if (this.#watched.has(id)) return;
    this.#watched.set(id, () => {});
    const stop = this.source.one(id, (delivery) => {
      if (!this.#rows.has(id) || !this.#watched.has(id)) return;
      if (!delivery || !this.source.matches(delivery)) this.#rows.delete(id);
      else this.#rows.set(id, delivery);
      if (!delivery || !isOpen(delivery)) this.#unwatch(id);
      this.#publish({});
    });
    if (this.#watched.has(id)) this.#watched.set(id, stop);
    else stop();
  }

  #unwatch(id: string): void {
    this.#watched.get(id)?.();
    this.#watched.delete(id);
  }

  #publish(change: Partial<FeedState>): void {
    if (this.#closed) return;
    const deliveries = [...this.#rows.values()].sort((one, other) => compare(one.place, other.place));
    this.#state = { ...this.#state, ...change, deliveries };
    this.onState(this.#state);
  }
}
