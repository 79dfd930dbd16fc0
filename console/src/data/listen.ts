// Listening to Firestore. Without the network the SDK tells what it remembers, and calls a list empty
// that it knows nothing of; and it tells of a write before the server has taken it. So only what the
// server has said is told.

import { type DocumentReference, type DocumentSnapshot, type Query, type QuerySnapshot, onSnapshot } from "firebase/firestore";

export type Tell<Value> = (value: Value) => void;
export type Fail = (error: unknown) => void;

// That the server has nothing further is told by the metadata alone.
const OPTIONS = { includeMetadataChanges: true };

export function listenToOne(document: DocumentReference, tell: Tell<DocumentSnapshot>, fail: Fail): () => void {
  return onSnapshot(document, OPTIONS, (found) => {
    if (isServers(found)) tell(found);
  }, fail);
}

export function listenToAll(list: Query, tell: Tell<QuerySnapshot>, fail: Fail): () => void {
  return onSnapshot(list, OPTIONS, (found) => {
    if (isServers(found)) tell(found);
  }, fail);
}

function isServers({ metadata }: DocumentSnapshot | QuerySnapshot): boolean {
  return !metadata.fromCache && !metadata.hasPendingWrites;
}
