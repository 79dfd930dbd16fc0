import assert from "node:assert/strict";
import { test } from "node:test";

import { EMPTY, type Grid, arranged } from "../src/domain/grid.ts";
import type { Photo } from "../src/domain/photo.ts";

const photo = (id: string): Photo => ({
  id,
  status: "pending",
  url: `https://example.com/${id}`,
  thumbUrl: null,
  featured: false,
  uploaderName: "",
  uploaderEmail: null,
  createdAt: new Date(Number(id)),
  decidedBy: null,
  reason: null,
});
const list = (...ids: string[]) => ids.map(photo);
const ids = ({ photos }: Grid) => photos.map(({ id }) => id).join(" ");

test("an upload comes to the end and moves nothing", () => {
  const grid = arranged(arranged(EMPTY, list("1", "2"), true), list("1", "2", "3"), true);
  assert.equal(ids(grid), "1 2 3");
  assert.equal(grid.gone.size, 0);
});

test("a photo that has left the list keeps its place, and is called gone", () => {
  const grid = arranged(arranged(EMPTY, list("1", "2", "3"), true), list("1", "3", "4"), true);
  assert.equal(ids(grid), "1 2 3 4");
  assert.deepEqual([...grid.gone], ["2"]);
});

test("a photo that would come before a shown one waits until it is asked for", () => {
  const grid = arranged(arranged(EMPTY, list("3", "2"), true), list("4", "3", "2"), true);
  assert.equal(ids(grid), "3 2");
  assert.equal(grid.heldBack, 1);
});

test("a photo that newer ones have pushed out of the list is not gone", () => {
  const grid = arranged(arranged(EMPTY, list("3", "2"), false), list("4", "3"), false);
  assert.equal(ids(grid), "3 2");
  assert.equal(grid.gone.size, 0);
});
