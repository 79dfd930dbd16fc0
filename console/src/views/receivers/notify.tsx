import { saveNotify } from "../../data/endpoints.ts";
import { isAdmin } from "../../data/session.ts";
import { Act } from "../../ui/busy.tsx";
import { Foreign } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

const MAX_ADDRESSES = 5;

/** Who gets a mail when a receiver fails, is given up, and acknowledges again: admins who have asked for it. */
export function NotifyCard({ notify }: { readonly notify: readonly string[] }) {
  const { sdk, staff, eventId } = usePlace();
  const mayEdit = isAdmin(staff);
  const isIn = notify.includes(staff.email);
  const save = (changed: (before: readonly string[]) => readonly string[]) => saveNotify(sdk.db, eventId, changed);
  return (
    <section class="card" aria-labelledby="notify">
      <h2 id="notify">Failure alerts</h2>
      <p class="quiet-text">
        Get an email after five failed deliveries in a row, when an endpoint is disabled, and when it recovers.
      </p>
      {notify.length === 0 ? <p>No recipients yet.</p> : (
        <ul class="rows">
          {notify.map((address) => (
            <li key={address}>
              <span class="grow"><Foreign>{address}</Foreign></span>
              {mayEdit && <Act kind="quiet" run={() => save((before) => before.filter((one) => one !== address))}>Remove<span class="unseen"> {address}</span></Act>}
            </li>
          ))}
        </ul>
      )}
      {mayEdit && !isIn && (
        <div class="actions">
          <Act run={() => save((before) => [...before, staff.email])} disabled={!staff.isVerified || notify.length >= MAX_ADDRESSES}>Email me</Act>
          <span class="quiet-text">
            {!staff.isVerified
              ? "Verify your email address first by signing in with an email link."
              : notify.length >= MAX_ADDRESSES ? `Up to ${MAX_ADDRESSES} addresses.` : "Other admins can add themselves here."}
          </span>
        </div>
      )}
    </section>
  );
}
