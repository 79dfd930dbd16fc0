import { useEffect, useState } from "preact/hooks";

let known = true;
addEventListener("online", () => (known = true));
addEventListener("offline", () => (known = false));

/**
 * Whether the browser has not lost its network since the page was opened. What it says at first is
 * not asked: on a machine without a network the local suite is reached all the same.
 */
export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(known);
  useEffect(() => {
    const come = () => setOnline(true);
    const go = () => setOnline(false);
    addEventListener("online", come);
    addEventListener("offline", go);
    return () => {
      removeEventListener("online", come);
      removeEventListener("offline", go);
    };
  }, []);
  return isOnline;
}
