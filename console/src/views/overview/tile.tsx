import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** One thing that an organizer wants to know first. */
export function Tile({ title, children }: Props) {
  const id = useId();
  return (
    <section class="card tile" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
