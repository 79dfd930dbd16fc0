// Which views an event has for whom. A view that somebody cannot use is not there.

import type { View } from "./address.ts";

export type Role = "moderator" | "admin" | "superadmin";

export const TITLES: Readonly<Record<View, string>> = {
  overview: "Overview",
  photos: "Photos",
  recaps: "Recaps",
  deliveries: "Deliveries",
  endpoints: "Receivers",
  sharing: "Links",
  signature: "Signature checker",
  secret: "Secret",
};

const OF_WEBHOOKS: readonly View[] = ["deliveries", "endpoints", "sharing", "signature", "secret"];

export interface Tab {
  readonly title: string;
  /** Where it leads. */
  readonly view: View;
  /** The views under it, where there are several. */
  readonly views: readonly View[];
}

export function tabsOf(role: Role): readonly Tab[] {
  const tabs = (["overview", "photos", "recaps"] as const).map((view) => ({ title: TITLES[view], view, views: [view] }));
  const views = OF_WEBHOOKS.filter((view) => isOpenTo(role, view));
  return views.length ? [...tabs, { title: "Webhooks", view: "deliveries", views }] : tabs;
}

/** Webhook addresses may hold keys: deliveries are for admins and superadmins, the secret for these alone. */
export function isOpenTo(role: Role, view: View): boolean {
  if (!OF_WEBHOOKS.includes(view)) return true;
  return view === "secret" ? role === "superadmin" : role !== "moderator";
}
