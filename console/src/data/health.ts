// Reads the health of an endpoint: two counts, and eleven deliveries.

import {
  type Firestore,
  type Query,
  collection,
  getCountFromServer,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  where,
} from "firebase/firestore";

import type { Delivery } from "../domain/delivery.ts";
import { DAY_MS, type Health, SAMPLE, health } from "../domain/health.ts";
import { COUNTED } from "../domain/words.ts";
import { read } from "./deliveries.ts";

export interface Standing {
  /** Whether the last delivery to the endpoint that ended has failed. */
  readonly isFailing: boolean;
  /** Deliveries of the last day that have failed, tests aside. */
  readonly missing: number;
}

/** Reads whether an endpoint fails: its last success and failure, and a count if it failed today. */
export async function standingOf(db: Firestore, eventId: string, endpointId: string, now: Date): Promise<Standing> {
  const [[success], [failure]] = await Promise.all([endings(db, eventId, endpointId, "success", 1), endings(db, eventId, endpointId, "failed", 1)]);
  const isOfTheDay = failure?.endedAt && now.getTime() - failure.endedAt.getTime() < DAY_MS;
  const failed = isOfTheDay ? await countOf(ended(db, eventId, endpointId, "failed"), now) : 0;
  return { isFailing: isFailing(success, failure), missing: await missingOf(failed, db, eventId, endpointId, now) };
}

// Subtracts tests from the failed deliveries. Only the record of a test has the field `test`.
async function missingOf(failed: number, db: Firestore, eventId: string, endpointId: string, now: Date): Promise<number> {
  if (failed === 0 || failed === COUNTED) return failed;
  return failed - (await countOf(query(ended(db, eventId, endpointId, "failed"), where("test", "==", true)), now));
}

// How many of them ended in the last day.
async function countOf(deliveries: Query, now: Date): Promise<number> {
  const ofTheDay = where("endedAt", ">=", new Date(now.getTime() - DAY_MS));
  return (await getCountFromServer(query(deliveries, ofTheDay, orderBy("endedAt", "asc"), limit(COUNTED)))).data().count;
}

export async function healthOf(db: Firestore, eventId: string, endpointId: string, now: Date): Promise<Health> {
  const [delivered, failed, successes, [failure]] = await Promise.all([
    countOf(ended(db, eventId, endpointId, "success"), now),
    countOf(ended(db, eventId, endpointId, "failed"), now),
    endings(db, eventId, endpointId, "success", SAMPLE),
    endings(db, eventId, endpointId, "failed", 1),
  ]);
  const lastSuccess = successes[0]?.endedAt;
  const since = lastSuccess ? [where("endedAt", ">", lastSuccess)] : [];
  const first = query(ended(db, eventId, endpointId, "failed"), ...since, orderBy("endedAt", "asc"), limit(1));
  const failingSince = isFailing(successes[0], failure) ? (firstAttemptOf((await getDocsFromServer(first)).docs.map(read)[0])) : null;
  const missing = await missingOf(failed, db, eventId, endpointId, now);
  return health({ delivered, failed, missing }, successes, failingSince, now);
}

type Ending = "success" | "failed";
const LATEST = orderBy("endedAt", "desc");

function ended(db: Firestore, eventId: string, endpointId: string, outcome: Ending): Query {
  return query(collection(db, "events", eventId, "deliveries"), where("endpoint", "==", endpointId), where("outcome", "==", outcome));
}

/** Returns the latest deliveries with that outcome. */
async function endings(db: Firestore, eventId: string, endpointId: string, outcome: Ending, most: number): Promise<readonly Delivery[]> {
  return (await getDocsFromServer(query(ended(db, eventId, endpointId, outcome), LATEST, limit(most)))).docs.map(read);
}

// Since when a delivery fails, which ended when its last attempt did.
function firstAttemptOf(failure: Delivery | undefined): Date | null {
  return failure?.log.find(({ round }) => round === failure.round)?.at ?? failure?.endedAt ?? null;
}

function isFailing(success: Delivery | undefined, failure: Delivery | undefined): boolean {
  return Boolean(failure?.endedAt && (!success?.endedAt || failure.endedAt > success.endedAt));
}
