import { useEffect, useState } from "preact/hooks";

import { span } from "../domain/time.ts";
import { useOnline } from "./online.ts";
import { useNow } from "./when.tsx";

/** A quiet list asks after this time whether the server is still there. */
const ASK_MS = 20_000;
/** Milliseconds of silence after which a list is not live. */
const SILENT_MS = 30_000;

interface Props {
  /** Changes with each report of the server. */
  readonly news: unknown;
  /** Asks the server for anything. */
  readonly ask: () => Promise<unknown>;
  readonly onLive?: (isLive: boolean) => void;
}

/**
 * Whether a list is live, and when the server was last heard from. A listener whose server has died
 * may take minutes to notice, so the list asks on its own.
 */
export function Connection({ news, ask, onLive }: Props) {
  const [heardAt, setHeardAt] = useState(() => Date.now());
  const now = useNow(1000).getTime();
  const isOnline = useOnline();
  useEffect(() => setHeardAt(Date.now()), [news]);
  useEffect(() => {
    const timer = setInterval(() => {
      // A hidden tab asks for nothing.
      if (!document.hidden) ask().then(() => setHeardAt(Date.now()), () => {});
    }, ASK_MS);
    return () => clearInterval(timer);
  }, []);

  const silence = Math.max(0, now - heardAt);
  const isLive = isOnline && silence < SILENT_MS;
  useEffect(() => onLive?.(isLive), [isLive]);
  return (
    <p class={`connection ${isLive ? "live" : "stale"}`}>
      <span role="status">
        {isLive ? "Live" : "Connection lost. Showing the last known state; reconnecting…"}
      </span>
      <span>updated {span(silence)} ago</span>
    </p>
  );
}
