import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { wordsOf } from "./errors.ts";
import { Notice } from "./notice.tsx";

export interface Work {
  readonly isBusy: boolean;
  readonly error: string;
  /** Runs something, one at a time; a thrown error becomes `error`. */
  run(work: () => Promise<void>): Promise<void>;
}

/** Something that takes a while and may fail. */
export function useWork(): Work {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  return {
    isBusy,
    error,
    async run(work) {
      if (isBusy) return;
      setBusy(true);
      setError("");
      try {
        await work();
      } catch (caught) {
        setError(wordsOf(caught));
      } finally {
        setBusy(false);
      }
    },
  };
}

interface Props {
  readonly busy: boolean;
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly kind?: "primary" | "danger" | "quiet" | "plain";
  readonly submits?: boolean;
  readonly disabled?: boolean;
  /** Text for work that takes long. */
  readonly slow?: string;
}

// Milliseconds after which a button says that it is still working.
const SLOW_MS = 3000;

/** A button that keeps its place and the focus while its work is going on. Long work is announced. */
export function ActionButton({ busy, children, onClick, kind = "plain", submits = false, disabled = false, slow = "Still working…" }: Props) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [busy]);
  return (
    <>
      <button
        type={submits ? "submit" : "button"}
        class={kind}
        aria-busy={busy}
        aria-disabled={busy || disabled}
        onClick={(event) => {
          if (busy || disabled) event.preventDefault();
          else onClick?.();
        }}
      >
        {children}
      </button>
      {isSlow && <span class="quiet-text" role="status">{slow}</span>}
    </>
  );
}

interface ActProps extends Pick<Props, "kind" | "disabled" | "slow" | "children"> {
  readonly run: () => Promise<unknown>;
}

/** A button that carries something out, and says beside it why it could not. */
export function Act({ run, children, ...looks }: ActProps) {
  const work = useWork();
  return (
    <>
      <ActionButton {...looks} busy={work.isBusy} onClick={() => void work.run(async () => void (await run()))}>{children}</ActionButton>
      {work.error && <Notice kind="error">{work.error}</Notice>}
    </>
  );
}
