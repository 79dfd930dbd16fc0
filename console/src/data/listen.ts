// Listening to Firestore. Without the network the SDK calls a document missing, and a list empty, that it
// knows nothing of: no answer, so nothing is told before the server has given one.

import { type DocumentReference, type DocumentSnapshot, type Query, type QuerySnapshot, onSnapshot } from "firebase/firestore";

// A list that is empty at the server as well is told of by its metadata alone.
const OPTIONS = { includeMetadataChanges: true };

export function listenToOne(
  document: DocumentReference,
  tell: (found: DocumentSnapshot) => void,
  onError: (error: unknown) => void,
): () => void {
  return onSnapshot(document, OPTIONS, (found) => {
    if (found.exists() || !found.metadata.fromCache) tell(found);
  }, onError);
}

export function listenToAll(
  list: Query,
  tell: (found: QuerySnapshot) => void,
  onError: (error: unknown) => void,
): () => void {
  return onSnapshot(list, OPTIONS, (found) => {
    if (!found.empty || !found.metadata.fromCache) tell(found);
  }, onError);
}
