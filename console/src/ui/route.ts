import { useLayoutEffect, useState } from "preact/hooks";

import { type Route, readRoute, writeRoute } from "../domain/address.ts";

/** Where the reader is, following the address. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  // At once, not after the next paint: a change of the address in between would be lost.
  useLayoutEffect(() => {
    const follow = () => setRoute(readRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

/** Changes the address without a step in the history: for filters, which change often. */
export function replace(route: Route): void {
  history.replaceState(null, "", writeRoute(route));
  dispatchEvent(new Event("hashchange"));
}
