import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Heading } from "./heading.tsx";
import { InfoIcon, WarningIcon } from "./icons.tsx";
import { useOnline } from "./online.ts";

interface Props {
  readonly kind?: "info" | "warning" | "error" | "success";
  readonly children: ComponentChildren;
}

/** Something to know, in its place. Errors are announced at once. */
export function Notice({ kind = "info", children }: Props) {
  const isUrgent = kind === "error";
  return (
    <div class={`notice ${kind}`} role={isUrgent ? "alert" : "status"}>
      {kind === "info" || kind === "success" ? <InfoIcon /> : <WarningIcon />}
      <div>{children}</div>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** Whether this is the only content of the view. */
  readonly isView?: boolean;
  readonly children?: ComponentChildren;
}

/** Where there would be something: why there is nothing, and what to do. */
export function Empty({ title, isView = false, children }: EmptyProps) {
  return (
    <div class="empty">
      {isView ? <Heading title={title}>{title}</Heading> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** In place of a figure. */
export function Unknown({ words }: { readonly words: string }) {
  return <span title={words}>–<span class="unseen"> {words}</span></span>;
}

// After which a server that has not answered is out of reach.
const UNHEARD_MS = 10_000;

interface SkeletonProps {
  readonly rows?: number;
  readonly label?: string;
  /** Whether to show only a dash if the server can't be reached. */
  readonly isFigure?: boolean;
}

/** Takes the place of content that is loading, and says if the server can't be reached. */
export function Skeleton({ rows = 6, label = "Loading…", isFigure = false }: SkeletonProps) {
  const isOnline = useOnline();
  const [isUnheard, setUnheard] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setUnheard(true), UNHEARD_MS);
    return () => clearTimeout(timer);
  }, []);
  const words = isOnline ? "Still loading… the server isn't responding." : "You're offline.";
  if (!isOnline || isUnheard) return isFigure ? <Unknown words={words} /> : <span class="quiet-text" role="status">{words}</span>;
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="bar" />
      ))}
    </div>
  );
}
