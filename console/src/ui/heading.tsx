import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

// Of the headings that are shown; the last one is in front.
const titles: string[] = [];
let waiting = "";

function show(): void {
  document.title = [waiting && `(${waiting})`, `${titles.at(-1) ?? "Console"} · Event photo wall`].filter(Boolean).join(" ");
}

/** How many photos wait goes into the tab's title, and onto the icon of an installed page: `372`; empty if none waits. */
export function useWaiting(words: string): void {
  useEffect(() => {
    waiting = words;
    show();
    // Some browsers have no badge, others allow none.
    void navigator.setAppBadge?.(Number.parseInt(words) || 0).catch(() => {});
  }, [words]);
  useEffect(() => () => {
    waiting = "";
    show();
    void navigator.clearAppBadge?.().catch(() => {});
  }, []);
}

/** The heading of a view; it takes the focus when the view is changed, so that it is read out. */
export function Heading({ children, title }: { readonly children: ComponentChildren; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titles.push(title);
    show();
    const isElsewhere = document.activeElement && document.activeElement !== document.body;
    if (!isElsewhere || document.activeElement?.closest("nav, a")) {
      heading.current?.focus({ preventScroll: true });
    }
    return () => {
      titles.splice(titles.lastIndexOf(title), 1);
      show();
    };
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
