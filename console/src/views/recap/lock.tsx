import type { RecapLock } from "../../data/recaps.ts";
import { Countdown, When, useNow } from "../../ui/when.tsx";

/** When the next recap can be sent. */
export function LockWords({ lock: { leasedUntil, cooldownUntil, isUnfinished } }: { readonly lock: RecapLock }) {
  const now = useNow(10_000);
  if (leasedUntil && leasedUntil > now) return <>A recap is being sent right now.</>;
  if (!cooldownUntil || cooldownUntil <= now) return <>The next recap can be sent now.</>;
  if (isUnfinished) return <>The last recap was interrupted. Sending again continues it, and mails only the guests who are left.</>;
  return <>The next recap can be sent <Countdown to={cooldownUntil} /> (<When at={cooldownUntil} />): one in 24 hours.</>;
}
