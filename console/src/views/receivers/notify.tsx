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
      <h2 id="notify">Mails about failures</h2>
      <p class="quiet-text">
        One mail when five deliveries in a row have failed, when a receiver is given up, and when it acknowledges again.
      </p>
      {notify.length === 0 ? <p>Nobody gets them.</p> : (
        <ul class="rows">
          {notify.map((address) => (
            <li key={address}>
              <span class="grow"><Foreign>{address}</Foreign></span>
              {mayEdit && <Act kind="quiet" run={() => save((before) => before.filter((one) => one !== address))}>Take out<span class="unseen"> {address}</span></Act>}
            </li>
          ))}
        </ul>
      )}
      {mayEdit && !isIn && (
        <div class="actions">
          <Act run={() => save((before) => [...before, staff.email])} disabled={!staff.isVerified || notify.length >= MAX_ADDRESSES}>Mail me</Act>
          <span class="quiet-text">
            {!staff.isVerified
              ? "Your address is not verified yet: sign in by a mailed link once."
              : notify.length >= MAX_ADDRESSES ? `${MAX_ADDRESSES} addresses are the most.` : "Other admins add themselves."}
          </span>
        </div>
      )}
    </section>
  );
}
