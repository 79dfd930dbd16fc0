// The webhook secret of an event, for superadmins.

import { type Firestore, doc, getDoc } from "firebase/firestore";

import { type Person, date, person, text } from "./fields.ts";

export interface WebhookSecret {
  readonly secret: string;
  /** Since when it signs, if it replaced another. */
  readonly rotatedAt: Date | null;
  readonly rotatedBy: Person | null;
  /** The one that is announced, and from when on it signs. */
  readonly next: { readonly secret: string; readonly activeFrom: Date; readonly by: Person | null } | null;
}

/** The secret in its current state; null before the first delivery has made one. */
export async function readSecret(db: Firestore, eventId: string): Promise<WebhookSecret | null> {
  const found = await getDoc(doc(db, "events", eventId, "secrets", "webhooks"));
  if (!found.exists()) return null;
  const next = (found.get("next") ?? {}) as Record<string, unknown>;
  const activeFrom = date(next["activeFrom"]);
  return {
    secret: text(found.get("secret")),
    rotatedAt: date(found.get("rotatedAt")),
    rotatedBy: person(found.get("rotatedBy")),
    next: activeFrom && { secret: text(next["secret"]), activeFrom, by: person(found.get("nextBy")) },
  };
}
