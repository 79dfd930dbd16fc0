import { type Endpoint, saveEndpoint } from "../../data/endpoints.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Url } from "../../ui/text.tsx";
import { usePlace } from "../place.ts";

interface Props {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

export function RemoveDialog({ endpoint, onClose }: Props) {
  const { sdk, eventId } = usePlace();
  const work = useWork();
  const remove = () =>
    work.run(async () => {
      await saveEndpoint(sdk.db, eventId, endpoint.url, null);
      onClose();
    });
  return (
    <Dialog title="Remove this receiver?" onClose={onClose}>
      <div class="stack">
        <p><Url url={endpoint.url} full /></p>
        <p>
          Nothing is sent there any more, and what failed there cannot be sent again. Deliveries stay on record for 30
          days. Links to its log keep working until they end.
        </p>
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Keep it</button>
          <ActionButton busy={work.isBusy} kind="danger" onClick={remove}>Remove</ActionButton>
        </div>
      </div>
    </Dialog>
  );
}
