// The contents of a link to deliveries, removed from the address, which people copy and bookmark.

import { readParameters } from "../domain/link.ts";

export interface Link {
  readonly token: string;
  /** The console's label for the event and the receiver; may be empty. */
  readonly event: string;
  readonly receiver: string;
}

/** The address with names beside the token: in the fragment, which no server sees. */
export function withNames(link: string, event: string, receiver: string): string {
  return `${link}&${new URLSearchParams({ event, ...(receiver && { receiver }) }).toString()}`;
}

/**
 * Takes the link from the fragment or the query into the history's entry, so that the page can be loaded again; the
 * fragment is free for the page's own.
 */
export function takeLink(): Link | null {
  const given = [readParameters(location.hash), readParameters(location.search)].find((some) => some.get("token"));
  const [token, event, receiver] = ["token", "event", "receiver"].map((name) => given?.get(name) ?? "");
  if (token) history.replaceState({ token, event, receiver }, "", location.pathname);
  const kept = history.state as Partial<Link> | null;
  return typeof kept?.token === "string" ? { token: kept.token, event: kept.event ?? "", receiver: kept.receiver ?? "" } : null;
}

/** Another place on the page, with a step in the history, which takes the link along. */
export function step(fragment: string): void {
  history.pushState(history.state, "", fragment || location.pathname);
  dispatchEvent(new Event("popstate"));
}
