import assert from "node:assert/strict";
import { test } from "node:test";

import { EMPTY, type Grid, arranged } from "../src/domain/grid.ts";
import { type Photo, pictureUrl } from "../src/domain/photo.ts";

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
  decidedByUid: null,
  decidedAt: null,
  reason: null,
});
const list = (...ids: string[]) => ids.map(photo);
const ids = ({ photos }: Grid) => photos.map(({ id }) => id).join(" ");

test("a photo that is not approved is shown by the picture that receivers show", () => {
  const [url, thumbUrl] = ["https://example.com/large.jpg", "https://example.com/small.jpg"];
  const shown = (status: Photo["status"]) => pictureUrl({ status, url, thumbUrl });
  assert.deepEqual([shown("pending"), shown("rejected"), shown("approved")], [url, url, thumbUrl]);
  assert.equal(pictureUrl({ status: "approved", url, thumbUrl: null }), url);
});

test("an upload comes to the end and moves nothing", () => {
  const grid = arranged(arranged(EMPTY, list("1", "2"), null), list("1", "2", "3"), null);
  assert.equal(ids(grid), "1 2 3");
  assert.equal(grid.gone.size, 0);
});

test("a photo that has left the list keeps its place, and is called gone", () => {
  const grid = arranged(arranged(EMPTY, list("1", "2", "3"), null), list("1", "3", "4"), null);
  assert.equal(ids(grid), "1 2 3 4");
  assert.deepEqual([...grid.gone], ["2"]);
});

test("a photo that would come before a shown one waits until it is asked for", () => {
  const grid = arranged(arranged(EMPTY, list("3", "2"), null), list("4", "3", "2"), null);
  assert.equal(ids(grid), "3 2");
  assert.equal(grid.heldBack, 1);
});

test("a photo that newer ones have pushed out of the list is not gone", () => {
  const grid = arranged(arranged(EMPTY, list("3", "2"), "newest"), list("4", "3"), "newest");
  assert.equal(ids(grid), "3 2");
  assert.equal(grid.gone.size, 0);
});

test("a photo that leaves a long list of waiting ones is gone", () => {
  const grid = arranged(arranged(EMPTY, list("1", "2"), "oldest"), list("2", "3"), "oldest");
  assert.deepEqual([...grid.gone], ["1"]);
});
