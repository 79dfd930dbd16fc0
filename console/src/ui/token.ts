// The token of a link: out of the address, where it would be seen, copied and bookmarked.

/**
 * Takes it from the fragment into the history's entry, so that the page can be loaded again; the
 * fragment is free for the page's own.
 */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) history.replaceState({ token: given }, "", location.pathname);
  const kept = (history.state as { token?: unknown } | null)?.token;
  return typeof kept === "string" ? kept : null;
}

/** Another place on the page, with a step in the history, which takes the token along. */
export function step(fragment: string): void {
  history.pushState(history.state, "", fragment || location.pathname);
  dispatchEvent(new Event("popstate"));
}
