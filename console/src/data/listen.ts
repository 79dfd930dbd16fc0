// Listens to Firestore. Without a network the SDK reports cached documents, or an empty list, and it reports a
// write before the server has accepted it. So only reports of the server are passed on.

import {
  type DocumentReference,
  type DocumentSnapshot,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
  type QuerySnapshot,
  collection,
  getCountFromServer,
  limit,
  onSnapshot,
  query,
  startAfter,
} from "firebase/firestore";

/** Tells a value, and each one that follows, until the function that it returns is called. */
export type Watch<Value> = (tell: (value: Value) => void, fail: (error: unknown) => void) => () => void;

/** Where a part of a list ends. */
export type End = QueryDocumentSnapshot;

/** Which part of a list is wanted: `most` items, from the beginning or behind `after`. */
export interface Part {
  readonly most: number;
  readonly after: End | null;
}

export function first(most: number): Part {
  return { most, after: null };
}

/** A part of a list. */
export interface List<Item> {
  readonly items: readonly Item[];
  /** Whether there are more behind them. */
  readonly hasMore: boolean;
  readonly end: End | null;
}

// Only the metadata says that the server has nothing further.
const OPTIONS = { includeMetadataChanges: true };

/** A document as it is read, whenever it changes; null if it does not exist. */
export function watchOne<Value>(document: DocumentReference, read: (found: QueryDocumentSnapshot) => Value): Watch<Value | null> {
  return (tell, fail) =>
    onSnapshot(document, OPTIONS, (found) => {
      if (isServers(found)) tell(found.exists() ? read(found) : null);
    }, fail);
}

/** Reports that part of the matching documents whenever it changes. */
export function watchList<Item>(fitting: Query, { most, after }: Part, read: (found: QueryDocumentSnapshot) => Item): Watch<List<Item>> {
  return (tell, fail) => {
    // An unchanged item stays the same object, so that its row is not drawn again.
    const known = new Map<string, Item>();
    // One more shows whether the list goes on.
    return onSnapshot(query(fitting, ...(after ? [startAfter(after)] : []), limit(most + 1)), OPTIONS, (found) => {
      for (const { type, doc } of found.docChanges()) {
        if (type === "removed") known.delete(doc.id);
        else known.set(doc.id, read(doc));
      }
      if (!isServers(found)) return;
      const items = found.docs.slice(0, most).map((one) => known.get(one.id) ?? read(one));
      tell({ items, hasMore: found.size > most, end: found.docs[items.length - 1] ?? null });
    }, fail);
  };
}

/**
 * Resolves once the server has answered anything; rejects if it does not. A count is a request of
 * its own: a query that has a listener would be answered without the server.
 */
export async function hearFrom(db: Firestore, eventId: string, name: "deliveries" | "photos"): Promise<void> {
  await getCountFromServer(query(collection(db, "events", eventId, name), limit(1)));
}

function isServers({ metadata }: DocumentSnapshot | QuerySnapshot): boolean {
  return !metadata.fromCache && !metadata.hasPendingWrites;
}
