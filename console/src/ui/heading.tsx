import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The heading of a view; it takes the focus when the view is changed, so that it is read out. */
export function Heading({ children, title }: { readonly children: ComponentChildren; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Event photo wall`;
    const isElsewhere = document.activeElement && document.activeElement !== document.body;
    if (!isElsewhere || document.activeElement?.closest("nav, a")) {
      heading.current?.focus({ preventScroll: true });
    }
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
