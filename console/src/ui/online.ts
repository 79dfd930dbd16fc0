import { useLayoutEffect, useState } from "preact/hooks";

let known = true;
for (const name of ["online", "offline"]) addEventListener(name, () => (known = name === "online"));

/**
 * Whether the browser has not lost its network since the page was opened. Its state at first is
 * ignored: the local suite can be reached on a machine without a network.
 */
export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(known);
  useLayoutEffect(() => {
    const follow = ({ type }: Event) => setOnline(type === "online");
    for (const name of ["online", "offline"]) addEventListener(name, follow);
    return () => {
      for (const name of ["online", "offline"]) removeEventListener(name, follow);
    };
  }, []);
  return isOnline;
}
