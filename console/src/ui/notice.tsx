import type { ComponentChildren } from "preact";

import { Heading } from "./heading.tsx";
import { InfoIcon, WarningIcon } from "./icons.tsx";

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
  /** Whether there is nothing else in the view. */
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

/** The place of content that is being loaded. */
export function Skeleton({ rows = 6, label = "Loading…" }: { readonly rows?: number; readonly label?: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="bar" />
      ))}
    </div>
  );
}
