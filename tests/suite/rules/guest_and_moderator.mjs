// A guest's and a moderator's browser: the JavaScript client SDK against the emulators.
//
//   node guest_and_moderator.mjs EVENT_ID MODERATOR_EMAIL MODERATOR_PASSWORD
//
// Uploads a photo as an anonymous guest, has the guest try to approve it, approves it as the
// moderator, and prints the photo as JSON.

import { initializeApp } from "firebase/app";
import {
  connectAuthEmulator,
  getAuth,
  signInAnonymously,
  signInWithEmailAndPassword,
} from "firebase/auth";
import {
  addDoc,
  collection,
  connectFirestoreEmulator,
  doc,
  getDoc,
  getFirestore,
  serverTimestamp,
  terminate,
  updateDoc,
} from "firebase/firestore";

const [eventId, email, password] = process.argv.slice(2);

function browser(name) {
  const app = initializeApp({ projectId: process.env.GCLOUD_PROJECT, apiKey: "local" }, name);
  const auth = getAuth(app);
  const url = `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`;
  connectAuthEmulator(auth, url, { disableWarnings: true });
  const db = getFirestore(app);
  const [host, port] = process.env.FIRESTORE_EMULATOR_HOST.split(":");
  connectFirestoreEmulator(db, host, Number(port));
  return { auth, db };
}

const guest = browser("guest");
const { user } = await signInAnonymously(guest.auth);
const photo = await addDoc(collection(guest.db, "events", eventId, "photos"), {
  status: "pending",
  url: "https://example.com/photo.jpg",
  uploaderName: "Guest",
  uploaderUid: user.uid,
  createdAt: serverTimestamp(),
});

const approval = { status: "approved", approvedAt: serverTimestamp(), approvedBy: email };
const refused = await updateDoc(photo, approval).then(
  () => null,
  (error) => error.code,
);

const moderator = browser("moderator");
await signInWithEmailAndPassword(moderator.auth, email, password);
await updateDoc(doc(moderator.db, photo.path), approval);

const seen = (await getDoc(photo)).data();
console.log(
  JSON.stringify({
    refused,
    status: seen.status,
    approvedBy: seen.approvedBy,
    approvedAfterUpload: seen.approvedAt.toMillis() >= seen.createdAt.toMillis(),
  }),
);
await Promise.all([terminate(guest.db), terminate(moderator.db)]);
process.exit(0);
