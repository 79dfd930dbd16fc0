import { useEffect, useState } from "preact/hooks";

export type Live<Value> =
  | { readonly state: "loading" }
  | { readonly state: "missing" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "there"; readonly value: Value };

type Watch<Value> = (
  onValue: (value: Value | null) => void,
  onError: (error: unknown) => void,
) => () => void;

/** What a listener tells, from the moment on at which the component is there. */
export function useLive<Value>(watch: Watch<Value>, inputs: readonly unknown[]): Live<Value> {
  const [live, setLive] = useState<Live<Value>>({ state: "loading" });
  useEffect(() => {
    setLive({ state: "loading" });
    return watch(
      (value) => setLive(value === null ? { state: "missing" } : { state: "there", value }),
      (error) => setLive({ state: "failed", error }),
    );
  }, inputs);
  return live;
}
