import { RefusedError } from "../../data/errors.ts";
import { wordsOf } from "../../ui/errors.ts";
import { Empty } from "../../ui/notice.tsx";

/** Opened without a link's token. */
export function NoLink() {
  return (
    <main class="middle">
      <Empty isView title="Open the link that you were given">
        <p>This page shows the deliveries to one webhook URL. The link to it ends in “token=…”; take all of it.</p>
      </Empty>
    </main>
  );
}

/** The link opens nothing (any more), or not now. */
export function Refusal({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const status = error instanceof RefusedError ? error.status : "";
  const isFinal = status === "PERMISSION_DENIED" || status === "INVALID_ARGUMENT";
  const isTooOften = status === "RESOURCE_EXHAUSTED";
  const title = isFinal
    ? "This link has ended, or is not complete"
    : isTooOften
      ? "Too many requests from your network"
      : "The deliveries could not be loaded";
  return (
    <main class="middle">
      <Empty isView title={title}>
        {isFinal && <p>A link ends after a week at most, or before. Ask the organizer who gave it to you for a new one.</p>}
        {isTooOften && <p>{wordsOf(error)}</p>}
        {!isFinal && !isTooOften && <p>Something went wrong on our side, or you are offline.</p>}
        {!isFinal && <button type="button" onClick={onRetry}>Try again</button>}
      </Empty>
    </main>
  );
}
