// Links to the log of one URL that were given out and have not ended.

import { type Firestore, collection, limit, orderBy, query, where } from "firebase/firestore";

import { date, text } from "./fields.ts";
import { type Fail, type Tell, listenToAll } from "./listen.ts";

/** More active links than these are not shown at once. */
export const SHARES_PAGE = 50;

export interface ActiveShare {
  readonly id: string;
  readonly url: string;
  readonly canResend: boolean;
  readonly createdAt: Date | null;
  readonly expireAt: Date;
}

/** Links that have not ended, the one that ends first at the top. */
export function watchShares(db: Firestore, eventId: string, now: Date, tell: Tell<readonly ActiveShare[]>, fail: Fail): () => void {
  const active = query(
    collection(db, "events", eventId, "shares"),
    where("expireAt", ">", now),
    orderBy("expireAt"),
    limit(SHARES_PAGE),
  );
  return listenToAll(
    active,
    (found) =>
      tell(
        found.docs.flatMap((one) => {
          const expireAt = date(one.get("expireAt"));
          // One that was ended has its end as `expireAt`, and leaves with the clock.
          if (!expireAt || one.get("revokedAt")) return [];
          return {
            id: one.id,
            url: text(one.get("url")),
            canResend: one.get("canResend") === true,
            createdAt: date(one.get("createdAt")),
            expireAt,
          };
        }),
      ),
    fail,
  );
}
