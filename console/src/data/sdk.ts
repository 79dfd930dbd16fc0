// Firebase's sign-in: one app, created once with the project's configuration from this site.

import { type FirebaseApp, initializeApp } from "firebase/app";
import {
  type Auth,
  browserLocalPersistence,
  connectAuthEmulator,
  indexedDBLocalPersistence,
  initializeAuth,
} from "firebase/auth";

import { emulator, isLocal, projectConfig } from "./site.ts";

export interface Connection {
  readonly app: FirebaseApp;
  readonly auth: Auth;
}

/** Connects; rejects if the site does not say which project it belongs to. */
export async function connect(): Promise<Connection> {
  const app = initializeApp(await projectConfig());
  // Without what pop-ups need: that would load scripts of another host.
  const auth = initializeAuth(app, {
    persistence: [indexedDBLocalPersistence, browserLocalPersistence],
  });
  if (isLocal()) {
    const { host, port } = emulator("auth");
    connectAuthEmulator(auth, `http://${host}:${port}`, { disableWarnings: true });
  }
  return { app, auth };
}
