import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Index {
  readonly collectionGroup: string;
  readonly queryScope: string;
  readonly fields: readonly { readonly fieldPath: string; readonly order: string }[];
}

const FILE = new URL("../../firestore.indexes.json", import.meta.url);
const { indexes } = JSON.parse(readFileSync(FILE, "utf8")) as { indexes: Index[] };

/**
 * Whether Firestore answers a query of documents that are equal in `fields`, in that order of `by`. It merges
 * indexes of one order, so that one of each field serves all combinations.
 * https://firebase.google.com/docs/firestore/query-data/index-overview#taking_advantage_of_index_merging
 */
function isServed(fields: readonly string[], collection = "deliveries", order = "DESCENDING", by = "createdAt"): boolean {
  const usable = indexes.filter(({ collectionGroup, queryScope, fields: all }) => {
    const last = all.at(-1);
    return (
      collectionGroup === collection &&
      queryScope === "COLLECTION" &&
      last?.fieldPath === by &&
      last.order === order &&
      all.slice(0, -1).every(({ fieldPath }) => fields.includes(fieldPath))
    );
  });
  const covered = new Set(usable.flatMap((one) => one.fields.map(({ fieldPath }) => fieldPath)));
  return fields.every((field) => covered.has(field));
}

test("every combination of filters has its indexes; the emulator asks for none", () => {
  for (const outcome of [[], ["outcome"]]) {
    for (const event of [[], ["event"]]) {
      for (const endpoint of [[], ["endpoint"]]) {
        const fields = [...outcome, ...event, ...endpoint];
        assert.ok(isServed(fields), fields.join(", "));
      }
    }
  }
  assert.ok(isServed(["status"], "photos"));
  assert.ok(isServed(["status"], "photos", "ASCENDING"));
  assert.ok(isServed(["status"], "photos", "ASCENDING", "uploaderName"));
  assert.ok(isServed(["endpoint", "outcome"], "deliveries", "ASCENDING", "endedAt"));
  assert.ok(isServed(["test", "endpoint", "outcome"], "deliveries", "ASCENDING", "endedAt"));
});
