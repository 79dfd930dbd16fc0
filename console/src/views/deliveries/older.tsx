import { useEffect, useRef } from "preact/hooks";

import type { FeedState } from "../../domain/feed.ts";
import { Notice } from "../../ui/notice.tsx";

interface OlderProps {
  readonly state: FeedState["older"];
  readonly onMore: () => void;
  /** Whether nothing is loaded before somebody asks for it: where each page counts. */
  readonly isByHand?: boolean;
}

/** The way to older ones: by itself where the end comes into sight, and by a button. */
export function Older({ state, onMore, isByHand = false }: OlderProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = end.current;
    if (!element || state !== "more" || isByHand) return;
    // Not before somebody has scrolled: a first view is one page.
    let hasScrolled = scrollY > 0;
    const watch = new IntersectionObserver((entries) => {
      if (hasScrolled && entries.some((entry) => entry.isIntersecting)) onMore();
    }, { rootMargin: "200px" });
    const begin = () => {
      hasScrolled = true;
      watch.unobserve(element);
      watch.observe(element);
    };
    watch.observe(element);
    addEventListener("scroll", begin, { once: true, passive: true });
    return () => {
      watch.disconnect();
      removeEventListener("scroll", begin);
    };
  }, [state]);
  if (state === "none") return null;
  return (
    <div class="older" ref={end}>
      {state === "failed" && <Notice kind="error">The older ones could not be loaded.</Notice>}
      <button type="button" aria-disabled={state === "loading"} aria-busy={state === "loading"} onClick={onMore}>
        {state === "loading" ? "Loading…" : "Show older"}
      </button>
    </div>
  );
}
