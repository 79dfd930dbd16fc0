import { useEffect, useState } from "preact/hooks";

let known = true;
for (const name of ["online", "offline"]) addEventListener(name, () => (known = name === "online"));

/**
 * Whether the browser has not lost its network since the page was opened. What it says at first is
 * not asked: on a machine without a network the local suite is reached all the same.
 */
export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(known);
  useEffect(() => {
    const follow = ({ type }: Event) => setOnline(type === "online");
    for (const name of ["online", "offline"]) addEventListener(name, follow);
    return () => {
      for (const name of ["online", "offline"]) removeEventListener(name, follow);
    };
  }, []);
  return isOnline;
}
