import { useEffect, useRef, useState } from "preact/hooks";

import { CopyIcon, TickIcon } from "./icons.tsx";

interface Props {
  readonly label: string;
  /** What goes to the clipboard; made when it is asked for. */
  readonly text: () => string | Promise<string>;
}

/** A button that copies, and says whether it could. */
export function CopyButton({ label, text }: Props) {
  const [state, setState] = useState<"" | "Copied" | "Not copied">("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);

  async function copy() {
    try {
      await navigator.clipboard.writeText(await text());
      setState("Copied");
    } catch {
      setState("Not copied");
    }
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setState(""), 2500);
  }

  return (
    <button type="button" class="quiet" onClick={copy}>
      {state === "Copied" ? <TickIcon /> : <CopyIcon />}
      <span aria-live="polite">{state || label}</span>
    </button>
  );
}
