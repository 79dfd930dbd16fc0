// The reads that tell how an endpoint is doing: two counts, ten deliveries, one more.

import {
  type Firestore,
  collection,
  getCountFromServer,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  where,
} from "firebase/firestore";

import { DAY_MS, type Health, SAMPLE, health } from "../domain/health.ts";
import { COUNTED } from "../domain/words.ts";
import { read } from "./deliveries.ts";

/** Whether the last delivery to the endpoint that ended has failed: two deliveries are read. */
export async function failsAt(db: Firestore, eventId: string, endpointId: string): Promise<boolean> {
  const all = collection(db, "events", eventId, "deliveries");
  const [success, failure] = await Promise.all(
    ["success", "failed"].map(async (outcome) => {
      const ended = [where("endpoint", "==", endpointId), where("outcome", "==", outcome)];
      const found = await getDocsFromServer(query(all, ...ended, orderBy("endedAt", "desc"), limit(1)));
      return found.docs.map(read)[0]?.endedAt ?? null;
    }),
  );
  return Boolean(failure && (!success || failure > success));
}

export async function healthOf(db: Firestore, eventId: string, endpointId: string, now: Date): Promise<Health> {
  const ended = (outcome: string) =>
    query(
      collection(db, "events", eventId, "deliveries"),
      where("endpoint", "==", endpointId),
      where("outcome", "==", outcome),
    );
  const latest = orderBy("endedAt", "desc");
  const ofTheDay = where("endedAt", ">=", new Date(now.getTime() - DAY_MS));
  const counted = async (outcome: string) =>
    (await getCountFromServer(query(ended(outcome), ofTheDay, latest, limit(COUNTED)))).data().count;

  const [delivered, failed, successes, failures] = await Promise.all([
    counted("success"),
    counted("failed"),
    getDocsFromServer(query(ended("success"), latest, limit(SAMPLE))),
    getDocsFromServer(query(ended("failed"), latest, limit(1))),
  ]);
  const acknowledged = successes.docs.map(read);
  const lastSuccess = acknowledged[0]?.endedAt ?? null;
  const lastFailure = failures.docs.map(read)[0]?.endedAt ?? null;
  const isFailing = lastFailure !== null && (lastSuccess === null || lastFailure > lastSuccess);
  const failingSince = isFailing ? await firstFailure() : null;
  return health({ delivered, failed }, acknowledged, failingSince, now);

  async function firstFailure(): Promise<Date | null> {
    const since = lastSuccess ? [where("endedAt", ">", lastSuccess)] : [];
    const first = query(ended("failed"), ...since, orderBy("endedAt", "asc"), limit(1));
    return (await getDocsFromServer(first)).docs.map(read)[0]?.endedAt ?? null;
  }
}
