import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { wordsOf } from "./errors.ts";
import { Skeleton } from "./notice.tsx";

export type Asked<Value> = { readonly value: Value } | { readonly error: unknown } | null;

/** What was asked for once, when the view was opened; once more where the network had gone and is back. */
export function useAsked<Value>(ask: () => Promise<Value>, inputs: readonly unknown[]): Asked<Value> {
  const [asked, setAsked] = useState<Asked<Value>>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!asked || !("error" in asked)) return;
    const again = () => setRound(round + 1);
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [asked]);
  useEffect(() => {
    let isWanted = true;
    setAsked(null);
    ask().then(
      (value) => isWanted && setAsked({ value }),
      (error: unknown) => isWanted && setAsked({ error }),
    );
    return () => {
      isWanted = false;
    };
  }, [...inputs, round]);
  return asked;
}

/** What an answer says, once it is there. */
export function Answer<Value>({ asked, children }: { readonly asked: Asked<Value>; readonly children: (value: Value) => ComponentChildren }) {
  if (!asked) return <Skeleton rows={1} />;
  if ("error" in asked) return <p class="field-error">{wordsOf(asked.error)}</p>;
  return <>{children(asked.value)}</>;
}
