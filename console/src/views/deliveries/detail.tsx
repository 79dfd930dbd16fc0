import type { Firestore } from "firebase/firestore";

import { watchDelivery } from "../../data/deliveries.ts";
import { readSecret } from "../../data/secret.ts";
import { seesSecret } from "../../data/session.ts";
import { isCallable, signedCurl, signingCurl } from "../../domain/curl.ts";
import { linkToSharing } from "../../domain/address.ts";
import { type Delivery, isOpen } from "../../domain/delivery.ts";
import { verdict } from "../../domain/verdict.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { useLive } from "../../ui/live.ts";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { DeliverySheet } from "./sheet.tsx";

interface Props {
  readonly deliveryId: string;
  readonly db: Firestore;
  /** Address of the list. */
  readonly back: string;
}

/** One delivery, live, and what can be done with it. */
export function DeliveryDetail({ deliveryId, db, back }: Props) {
  const { eventId } = usePlace();
  const live = useLive<Delivery>(
    (onValue, onError) => watchDelivery(db, eventId, deliveryId, onValue, onError),
    [db, eventId, deliveryId],
  );
  if (live.state === "loading") return <Skeleton rows={8} label="Loading the delivery…" />;
  if (live.state === "failed") return <Notice kind="error">{wordsOf(live.error)}</Notice>;
  if (live.state === "missing") {
    return (
      <Empty title="There is no such delivery">
        <p>The id may be another event's, or the delivery is older than 30 days, which is how long they are kept.</p>
        <p><a href={back}>All deliveries</a></p>
      </Empty>
    );
  }
  return (
    <DeliverySheet delivery={live.value} eventId={eventId} back={back}>
      <Actions delivery={live.value} />
    </DeliverySheet>
  );
}

function Actions({ delivery }: { readonly delivery: Delivery }) {
  const { sdk, staff, eventId, calls } = usePlace();
  const work = useWork();
  const told = verdict(delivery);
  const resend = () => work.run(async () => void (await calls.resend(delivery.id)));
  const curl = async () => {
    const secret = seesSecret(staff) ? await readSecret(sdk.db, eventId) : null;
    return secret ? signedCurl(delivery, eventId, secret.secret, new Date()) : signingCurl(delivery, eventId);
  };
  return (
    <div class="actions">
      <ActionButton busy={work.isBusy} kind="primary" onClick={resend} disabled={isOpen(delivery)}>
        Send again
      </ActionButton>
      {isCallable(delivery) && <CopyButton label="Copy as curl" text={curl} />}
      {told?.turn === "receiver" && <a class="button" href={linkToSharing(eventId, delivery.url)}>Make a link for them</a>}
      <CopyButton label="Copy link" text={() => location.href} />
      {isOpen(delivery) && <span class="quiet-text">It can be sent again once it has ended.</span>}
      {work.error && <Notice kind="error">{work.error}</Notice>}
    </div>
  );
}
