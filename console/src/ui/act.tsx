import type { ComponentChildren } from "preact";

import { ActionButton, useWork } from "./busy.tsx";
import { Notice } from "./notice.tsx";

interface Props {
  readonly run: () => Promise<unknown>;
  readonly kind?: "primary" | "danger" | "quiet" | "plain";
  readonly disabled?: boolean;
  readonly slow?: string;
  readonly children: ComponentChildren;
}

/** A button that carries something out, and says beside it why it could not. */
export function Act({ run, children, ...looks }: Props) {
  const work = useWork();
  return (
    <>
      <ActionButton {...looks} busy={work.isBusy} onClick={() => void work.run(async () => void (await run()))}>{children}</ActionButton>
      {work.error && <Notice kind="error">{work.error}</Notice>}
    </>
  );
}
