// Links to the log of one URL that were given out and have not ended.

import { type Firestore, collection, orderBy, query, where } from "firebase/firestore";

import { date, text } from "./fields.ts";
import { type List, type Watch, first, watchList } from "./listen.ts";

/** More active links than these are not shown at once. */
export const SHARES_PAGE = 50;

export interface ActiveShare {
  readonly id: string;
  readonly url: string;
  readonly canResend: boolean;
  readonly createdAt: Date | null;
  readonly createdBy: string;
  readonly expireAt: Date;
  /** Whether an admin has ended it: it leaves the list with the clock. */
  readonly isRevoked: boolean;
}

/** Links that have not ended, the one that ends first at the top. */
export function watchShares(db: Firestore, eventId: string, now: Date): Watch<List<ActiveShare>> {
  const active = query(collection(db, "events", eventId, "shares"), where("expireAt", ">", now), orderBy("expireAt"));
  return watchList(active, first(SHARES_PAGE), (found) => ({
    id: found.id,
    url: text(found.get("url")),
    canResend: found.get("canResend") === true,
    createdAt: date(found.get("createdAt")),
    createdBy: text(found.get("createdBy")),
    expireAt: date(found.get("expireAt")) ?? now,
    isRevoked: Boolean(found.get("revokedAt")),
  }));
}
