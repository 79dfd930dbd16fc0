import { useEffect, useState } from "preact/hooks";

import { CopyIcon, TickIcon } from "./icons.tsx";

interface Props {
  readonly label: string;
  /** The text for the clipboard, computed on demand. */
  readonly text: () => string;
}

/** A button that copies, and says whether it could. */
export function CopyButton({ label, text }: Props) {
  const [state, setState] = useState<"" | "Copied" | "Not copied">("");
  useEffect(() => {
    const timer = setTimeout(() => setState(""), 2500);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy() {
    const isCopied = await navigator.clipboard.writeText(text()).then(() => true, () => false);
    setState(isCopied ? "Copied" : "Not copied");
  }

  return (
    <button type="button" class="quiet" onClick={copy}>
      {state === "Copied" ? <TickIcon /> : <CopyIcon />}
      <span aria-live="polite">{state || label}</span>
    </button>
  );
}
