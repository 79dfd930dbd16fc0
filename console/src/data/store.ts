// Firestore, as the console uses it. Apart from the sign-in, so that no one loads it before.

import type { FirebaseApp } from "firebase/app";
import { type Firestore, connectFirestoreEmulator, initializeFirestore, memoryLocalCache } from "firebase/firestore";

import { emulator, isLocal } from "./site.ts";

let store: Firestore | null = null;

/** The one store of the page, made on first use. */
export function storeOf(app: FirebaseApp): Firestore {
  if (store) return store;
  // Only in memory, so that guests' texts are not left behind on a shared machine.
  store = initializeFirestore(app, { localCache: memoryLocalCache() });
  if (isLocal()) {
    const { host, port } = emulator("firestore");
    connectFirestoreEmulator(store, host, port);
  }
  return store;
}
