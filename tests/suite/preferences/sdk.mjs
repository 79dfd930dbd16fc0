// Calls a callable of the local suite with the official SDK, as a page of the product would.
// usage: node sdk.mjs FUNCTION PARAMETERS-AS-JSON; prints {result} or {code, message} as JSON.

import { initializeApp } from "firebase/app";
import { connectFunctionsEmulator, getFunctions, httpsCallable } from "firebase/functions";

const [name, parameters] = process.argv.slice(2);
const projectId = process.env.GCLOUD_PROJECT;
const functions = getFunctions(initializeApp({ projectId, apiKey: "local" }), "us-central1");
connectFunctionsEmulator(functions, "127.0.0.1", 5001);
try {
  const { data } = await httpsCallable(functions, name)(JSON.parse(parameters));
  console.log(JSON.stringify({ result: data }));
} catch ({ code, message }) {
  console.log(JSON.stringify({ code, message }));
}
process.exit(0);
