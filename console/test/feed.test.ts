import assert from "node:assert/strict";
import { test } from "node:test";

import type { Delivery } from "../src/domain/delivery.ts";
import { Feed, type FeedSource, type FeedState, type Head } from "../src/domain/feed.ts";
import { delivery } from "./samples.ts";

const PAGE = 3;

// Deliveries on record, and the queries for them.
class Source implements FeedSource {
  all: Delivery[] = [];
  asked: string[] = [];
  fails = false;
  wanted = (_: Delivery) => true;
  #onHead: (head: Head) => void = () => {};
  #onError: (error: unknown) => void = () => {};
  #ones = new Map<string, (delivery: Delivery | null) => void>();

  put(...changed: Delivery[]) {
    const others = this.all.filter((one) => !changed.some(({ id }) => id === one.id));
    this.all = [...others, ...changed].sort((one, other) => other.place.seconds - one.place.seconds);
  }

  tell(isStale = false) {
    this.#onHead({ deliveries: this.all.filter(this.wanted).slice(0, PAGE), isStale });
    for (const [id, onOne] of [...this.#ones]) onOne(this.all.find((one) => one.id === id) ?? null);
  }

  fail(error: unknown) {
    this.#onError(error);
  }

  get watched() {
    return [...this.#ones.keys()];
  }

  head(limit: number, onHead: (head: Head) => void, onError: (error: unknown) => void) {
    this.asked.push(`head ${limit}`);
    this.#onHead = onHead;
    this.#onError = onError;
    return () => this.asked.push("stop");
  }

  async page(after: Delivery, limit: number) {
    this.asked.push(`after ${after.id}`);
    if (this.fails) throw new Error("away");
    const older = this.all.filter((one) => one.place.seconds < after.place.seconds);
    return older.filter(this.wanted).slice(0, limit);
  }

  one(id: string, onDelivery: (delivery: Delivery | null) => void) {
    this.#ones.set(id, onDelivery);
    return () => this.#ones.delete(id);
  }

  matches(one: Delivery) {
    return this.wanted(one);
  }
}

function started(source: Source) {
  let state: FeedState | undefined;
  const feed = new Feed(source, (now) => (state = now), PAGE);
  return { feed, ids: () => state?.deliveries.map(({ id }) => id), state: () => state };
}

function some(from: number, to: number) {
  return Array.from({ length: to - from + 1 }, (_, one) => delivery({ number: from + one }));
}

test("the first view is one page, and says whether there is more", () => {
  const source = new Source();
  const { ids, state } = started(source);
  source.put(...some(1, 7));
  source.tell();
  assert.deepEqual(ids(), ["d007", "d006", "d005"]);
  assert.equal(state()?.older, "more");
  assert.deepEqual(source.asked, ["head 3"]);

  const few = new Source();
  const other = started(few);
  few.put(...some(1, 2));
  few.tell();
  assert.equal(other.state()?.older, "none");
});

test("older ones come page by page, until there are none", async () => {
  const source = new Source();
  const { feed, ids, state } = started(source);
  source.put(...some(1, 7));
  source.tell();
  await feed.loadOlder();
  assert.deepEqual(ids(), ["d007", "d006", "d005", "d004", "d003", "d002"]);
  assert.equal(state()?.older, "more");
  await feed.loadOlder();
  assert.equal(ids()?.length, 7);
  assert.equal(state()?.older, "none");
  await feed.loadOlder();
  assert.deepEqual(source.asked, ["head 3", "after d005", "after d002"]);
});

test("what newer ones push out of the first page stays in the list", () => {
  const source = new Source();
  const { ids } = started(source);
  source.put(...some(1, 5));
  source.tell();
  source.put(...some(6, 8));
  source.tell();
  assert.deepEqual(ids(), ["d008", "d007", "d006", "d005", "d004", "d003"]);
});

test("an open delivery that was pushed out is followed until it has ended", () => {
  const source = new Source();
  const { ids, state } = started(source);
  source.put(...some(1, 4), delivery({ number: 5, outcome: "retrying" }));
  source.tell();
  assert.deepEqual(source.watched, []);
  source.put(...some(6, 8));
  source.tell();
  assert.deepEqual(source.watched, ["d005"]);
  source.put(delivery({ number: 5, outcome: "failed" }));
  source.tell();
  assert.equal(state()?.deliveries.find(({ id }) => id === "d005")?.outcome, "failed");
  assert.deepEqual(source.watched, []);
  assert.equal(ids()?.includes("d005"), true);
});

test("an open delivery on an older page is followed, and leaves a list that it fits no more", async () => {
  const source = new Source();
  source.wanted = (one) => one.outcome !== "success";
  const { feed, ids } = started(source);
  const open = some(1, 5).map((one) => ({ ...one, outcome: "retrying" as const }));
  source.put(...open);
  source.tell();
  await feed.loadOlder();
  assert.deepEqual(source.watched, ["d002", "d001"]);
  source.put(delivery({ number: 2, outcome: "success" }));
  source.tell();
  assert.deepEqual(ids(), ["d005", "d004", "d003", "d001"]);
});

test("what leaves a list that is shorter than a page is gone", () => {
  const source = new Source();
  const { ids } = started(source);
  source.put(...some(1, 3));
  source.tell();
  source.all = source.all.slice(1);
  source.tell();
  assert.deepEqual(ids(), ["d002", "d001"]);
});

test("a lost connection, a refusal and a failed page are told", async () => {
  const source = new Source();
  const { feed, state } = started(source);
  source.put(...some(1, 5));
  source.tell();
  source.tell(true);
  assert.equal(state()?.state, "stale");
  source.fails = true;
  await feed.loadOlder();
  assert.equal(state()?.older, "failed");
  source.fails = false;
  await feed.loadOlder();
  assert.equal(state()?.older, "none");
  source.fail(new Error("refused"));
  assert.equal(state()?.state, "failed");
});

test("a closed list listens to nothing, and says nothing more", async () => {
  const source = new Source();
  const { feed, ids } = started(source);
  source.put(...some(1, 4), delivery({ number: 5, outcome: "pending" }));
  source.tell();
  source.put(...some(6, 8));
  source.tell();
  const before = ids();
  const page = feed.loadOlder();
  feed.close();
  await page;
  source.tell();
  assert.deepEqual(source.watched, []);
  assert.equal(source.asked.at(-1), "stop");
  assert.deepEqual(ids(), before);
});
