import { watchDelivery } from "../../data/deliveries.ts";
import { type Place, linkTo, writeRoute } from "../../domain/address.ts";
import { isCallable, signingCurl } from "../../domain/curl.ts";
import { type Delivery, isOpen } from "../../domain/delivery.ts";
import { type Endpoint, callName } from "../../domain/endpoint.ts";
import { Act } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Shown, useLive } from "../../ui/live.tsx";
import { Empty } from "../../ui/notice.tsx";
import { usePlace } from "../place.ts";
import { DeliverySheet } from "./sheet.tsx";

interface Props {
  readonly place: Place;
  readonly deliveryId: string;
  readonly endpoints: readonly Endpoint[];
}

/** One delivery, live, with its actions. */
export function DeliveryPage({ place, deliveryId, endpoints }: Props) {
  const { sdk, eventId } = usePlace();
  const live = useLive(() => watchDelivery(sdk.db, eventId, deliveryId), [sdk, eventId, deliveryId]);
  const back = writeRoute({ ...place, deliveryId: null });
  const missing = (
    <Empty isView title="Delivery not found">
      <p>Check the ID. Deliveries are deleted after 30 days.</p>
      <p><a href={back}>All deliveries</a></p>
    </Empty>
  );
  return (
    <Shown live={live} rows={8} label="Loading the delivery…" missing={missing}>
      {(delivery) => {
        const endpoint = endpoints.find(({ id, url }) => id === delivery.endpointId || url === delivery.url);
        return (
          <DeliverySheet delivery={delivery} eventId={eventId} back={back} backWords={place.endpointId && endpoint ? callName(endpoint) : "All deliveries"}>
            <Actions delivery={delivery} endpoint={endpoint} />
          </DeliverySheet>
        );
      }}
    </Shown>
  );
}

function Actions({ delivery, endpoint }: { readonly delivery: Delivery; readonly endpoint: Endpoint | undefined }) {
  const { eventId, calls } = usePlace();
  return (
    <div class="actions">
      <Act kind="primary" run={() => calls.resend(delivery.id)} disabled={isOpen(delivery)}>Resend</Act>
      {endpoint && <a class="button" href={linkTo("receivers", eventId, { endpointId: endpoint.id })}>View endpoint</a>}
      {isCallable(delivery) && <CopyButton label="Copy as curl" text={() => signingCurl(delivery, eventId)} />}
      <CopyButton label="Copy link" text={() => location.href} />
      {isOpen(delivery) && <span class="quiet-text">Can be resent once retries are finished.</span>}
      {endpoint && endpoint.url !== delivery.url && <span class="quiet-text">It will be resent to the endpoint's current URL.</span>}
    </div>
  );
}
