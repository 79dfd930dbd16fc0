// The order in which photos are shown while guests upload and others decide: nothing that is shown moves.

import type { Photo } from "./photo.ts";

export interface Grid {
  readonly photos: readonly Photo[];
  /** Ids of photos that have left the list since they were shown. */
  readonly gone: ReadonlySet<string>;
  /** Photos of the list that would come before a photo that is shown. */
  readonly heldBack: number;
}

export const EMPTY: Grid = { photos: [], gone: new Set(), heldBack: 0 };

/**
 * Returns the grid after `list` has changed. A photo keeps its place, even after it has left the list. New photos
 * after the last one are added. New photos before it are held back until they are requested.
 * `first` says which photos come first in a list that goes on behind its last; null if it does not.
 */
export function arranged({ photos: shown }: Grid, list: readonly Photo[], first: "oldest" | "newest" | null): Grid {
  const listed = new Map(list.map((photo) => [photo.id, photo]));
  const known = new Set(shown.map(({ id }) => id));
  const lastShown = list.findLastIndex(({ id }) => known.has(id));
  const end = list.at(-1);
  // Another photo may have pushed it beyond the end of the list, although it still has the status.
  const isBeyond = ({ createdAt }: Photo) =>
    first !== null && createdAt !== null && end?.createdAt != null && (first === "newest" ? createdAt < end.createdAt : createdAt > end.createdAt);
  const arrivals = list.filter(({ id }, place) => place > lastShown && !known.has(id));
  return {
    photos: [...shown.map((photo) => listed.get(photo.id) ?? photo), ...arrivals],
    gone: new Set(shown.filter((photo) => !listed.has(photo.id) && !isBeyond(photo)).map(({ id }) => id)),
    heldBack: shown.length ? list.filter(({ id }, place) => place < lastShown && !known.has(id)).length : 0,
  };
}
