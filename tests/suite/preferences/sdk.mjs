// Calls a callable of the local suite with the official SDK, as a page of the product would.
// usage: node sdk.mjs FUNCTION PARAMETERS-AS-JSON [ADDRESS PASSWORD], the last two to sign in with;
// prints {result} or {code, message} as JSON.

import { initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth, signInWithEmailAndPassword } from "firebase/auth";
import { connectFunctionsEmulator, getFunctions, httpsCallable } from "firebase/functions";

const [name, parameters, address, password] = process.argv.slice(2);
const projectId = process.env.GCLOUD_PROJECT;
const app = initializeApp({ projectId, apiKey: "local" });
const functions = getFunctions(app, "us-central1");
connectFunctionsEmulator(functions, "127.0.0.1", 5001);
if (address) {
  const emulator = `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`;
  connectAuthEmulator(getAuth(app), emulator, { disableWarnings: true });
  await signInWithEmailAndPassword(getAuth(app), address, password);
}
try {
  const { data } = await httpsCallable(functions, name)(JSON.parse(parameters));
  console.log(JSON.stringify({ result: data }));
} catch ({ code, message }) {
  console.log(JSON.stringify({ code, message }));
}
process.exit(0);
