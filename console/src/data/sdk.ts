// Firebase, as the console uses it: one app, made once, with what this site says of its project.

import { type FirebaseApp, initializeApp } from "firebase/app";
import {
  type Auth,
  browserLocalPersistence,
  connectAuthEmulator,
  indexedDBLocalPersistence,
  initializeAuth,
} from "firebase/auth";
import {
  type Firestore,
  connectFirestoreEmulator,
  initializeFirestore,
  memoryLocalCache,
} from "firebase/firestore";

import { EMULATORS, isLocal, projectConfig } from "./site.ts";

export interface Sdk {
  readonly app: FirebaseApp;
  readonly auth: Auth;
  readonly db: Firestore;
}

/** Connects; rejects where the site does not say which project it belongs to. */
export async function connect(): Promise<Sdk> {
  const app = initializeApp(await projectConfig());
  // Without what pop-ups need: that would load scripts of another host.
  const auth = initializeAuth(app, {
    persistence: [indexedDBLocalPersistence, browserLocalPersistence],
  });
  // In memory alone: what a guest wrote is not left behind on a shared machine.
  const db = initializeFirestore(app, { localCache: memoryLocalCache() });
  if (isLocal()) {
    const { auth: authAt, firestore: firestoreAt } = EMULATORS;
    connectAuthEmulator(auth, `http://${authAt.host}:${authAt.port}`, { disableWarnings: true });
    connectFirestoreEmulator(db, firestoreAt.host, firestoreAt.port);
  }
  return { app, auth, db };
}
