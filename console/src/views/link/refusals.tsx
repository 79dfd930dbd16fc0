import { RefusedError } from "../../data/errors.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Empty } from "../../ui/notice.tsx";

/** Opened without a link's token. */
export function NoLink() {
  return (
    <main class="middle">
      <Empty isView title="Incomplete link">
        <p>This page needs the full link you were sent, including the part after “token=”.</p>
      </Empty>
    </main>
  );
}

/** The link is invalid, or can't be opened now. */
export function Refusal({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const status = error instanceof RefusedError ? error.status : "";
  const isFinal = status === "PERMISSION_DENIED" || status === "INVALID_ARGUMENT";
  const isTooOften = status === "RESOURCE_EXHAUSTED";
  const title = isFinal
    ? "This link has expired or is incomplete"
    : isTooOften
      ? "Too many requests from your network"
      : "Couldn't load the deliveries";
  return (
    <main class="middle">
      <Empty isView title={title}>
        {isFinal && <p>Links expire after a week at most. Ask the organizer for a new one.</p>}
        {isTooOften && <p>{wordsOf(error)}</p>}
        {!isFinal && !isTooOften && <p>Something went wrong on our side, or you are offline.</p>}
        {!isFinal && <button type="button" onClick={onRetry}>Try again</button>}
      </Empty>
    </main>
  );
}
