// The webhook URLs of an event: `settings/webhooks`.

import {
  FieldPath,
  type Firestore,
  collection,
  deleteField,
  doc,
  getDoc,
  getDocsFromServer,
  limit,
  query,
  runTransaction,
  serverTimestamp,
  where,
} from "firebase/firestore";

import { type EventType, USUAL_EVENT_TYPES, isEventType } from "../domain/event_type.ts";
import { MAX_URLS } from "../domain/endpoint.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { date, number, text } from "./fields.ts";
import { listenToOne } from "./listen.ts";

export interface Endpoint {
  readonly url: string;
  /** Null for the usual types (`USUAL_EVENT_TYPES`). */
  readonly events: readonly EventType[] | null;
  /** What people call it; may be empty. */
  readonly label: string;
  /** Since when an admin has it switched off; null where it is on. */
  readonly offSince: Date | null;
  /** The standing order: what failed is sent again once the receiver answers. */
  readonly recover: boolean;
  /** Since when and why the service has given it up; null where it has not. */
  readonly disabled: { readonly key: string; readonly reason: string; readonly at: Date | null } | null;
}

export interface Settings {
  readonly endpoints: readonly Endpoint[];
  readonly notify: readonly string[];
}

/** The settings, whenever they change; without any where there is no document. */
export function watchEndpoints(
  db: Firestore,
  eventId: string,
  onSettings: (settings: Settings) => void,
  onError: (error: unknown) => void,
): () => void {
  return listenToOne(settingsOf(db, eventId), (found) => onSettings(read(found.data() ?? {})), onError);
}

/** The settings as they are now. */
export async function readEndpoints(db: Firestore, eventId: string): Promise<Settings> {
  return read((await getDoc(settingsOf(db, eventId))).data() ?? {});
}

/** Puts `endpoint` in the place of the one of `before`, or at the end; takes it out where null. */
export async function saveEndpoint(
  db: Firestore,
  eventId: string,
  before: string | null,
  endpoint: Omit<Endpoint, "disabled"> | null,
): Promise<void> {
  const saving = runTransaction(db, async (transaction) => {
    const settings = settingsOf(db, eventId);
    const fields = (await transaction.get(settings)).data() ?? {};
    const entries: unknown[] = Array.isArray(fields["urls"]) ? fields["urls"].map(withoutOrder) : [];
    const urls = entries.map(urlOf);
    const place = before === null ? entries.length : urls.indexOf(before);
    if (place < 0) throw new ChangedMeanwhileError("The URL has been removed by somebody else.");
    if (endpoint) {
      if (urls.some((url, other) => url === endpoint.url && other !== place)) {
        throw new ChangedMeanwhileError("The event has this URL already.");
      }
      if (place >= MAX_URLS) throw new ChangedMeanwhileError(`The event has ${MAX_URLS} URLs already.`);
      entries[place] = entryOf(endpoint);
    } else {
      entries.splice(place, 1);
    }
    // A URL that is gone is given up by nobody, and has no name.
    const isGone = before !== null && before !== endpoint?.url;
    const gone = isGone ? keysOf(fields, before) : [];
    const text = (value: string | undefined) => ({
      ...(isGone && { [before]: deleteField() }),
      ...(endpoint && { [endpoint.url]: value || deleteField() }),
    });
    const orders = recoverOf(fields).filter((url) => url !== before && url !== endpoint?.url);
    const changed = {
      // The rules want the time of each change of the URLs, and of no other.
      ...(JSON.stringify(entries) !== JSON.stringify(fields["urls"]) && { urls: entries, urlsChangedAt: serverTimestamp() }),
      recover: endpoint?.recover ? [...orders, endpoint.url] : orders,
      labels: text(endpoint?.label),
      off: text(endpoint?.offSince?.toISOString()),
      ...(gone.length && { disabled: Object.fromEntries(gone.map((key) => [key, deleteField()])) }),
    };
    transaction.set(settings, changed, { merge: true });
  });
  await answered(saving, "the list of addresses");
}

/** What a standing order has done so far. */
export interface Recovery {
  /** Deliveries that it has sent again in all. */
  readonly resent: number;
  readonly ranAt: Date | null;
  /** Whether it waits for the receiver to answer. */
  readonly isWaiting: boolean;
}

/** What the standing order at `url` has done; null where nothing has failed there since it was given. */
export async function recoveryOf(db: Firestore, eventId: string, url: string): Promise<Recovery | null> {
  const all = collection(db, "events", eventId, "recoveries");
  const [found] = (await getDocsFromServer(query(all, where("url", "==", url), limit(1)))).docs;
  const fields = found?.data();
  return fields ? { resent: number(fields["resent"]), ranAt: date(fields["ranAt"]), isWaiting: fields["lookAt"] !== null } : null;
}

/** Keeps deliveries from a URL, whose messages are recorded as skipped from now on. */
export async function switchOff(db: Firestore, eventId: string, endpoint: Endpoint): Promise<void> {
  await saveEndpoint(db, eventId, endpoint.url, { ...endpoint, offSince: new Date() });
}

/** Lets deliveries go to a URL again that an admin has switched off, or that the service has given up. */
export async function switchOn(db: Firestore, eventId: string, { url, offSince, disabled }: Endpoint): Promise<void> {
  const ended = [...(offSince ? [new FieldPath("off", url)] : []), ...(disabled ? [new FieldPath("disabled", disabled.key)] : [])];
  const [first, ...others] = ended;
  if (!first) return;
  // A transaction shows a change when the server has it, so that the next one does not read what was before.
  const saving = runTransaction(db, async (transaction) => {
    const rest = others.flatMap((field) => [field, deleteField()]);
    transaction.update(settingsOf(db, eventId), first, deleteField(), ...rest);
  });
  await answered(saving, "the address");
}

/** Says who is told when a URL fails. */
export async function saveNotify(db: Firestore, eventId: string, notify: readonly string[]): Promise<void> {
  const saving = runTransaction(db, async (transaction) => {
    const settings = settingsOf(db, eventId);
    const urls: unknown = (await transaction.get(settings)).get("urls");
    // The rules want a list of URLs, be it empty.
    const fields = Array.isArray(urls) ? { notify } : { notify, urls: [], urlsChangedAt: serverTimestamp() };
    transaction.set(settings, fields, { merge: true });
  });
  await answered(saving, "who is told");
}

// The texts by URLs in a field.
function textsOf(fields: Record<string, unknown>, name: "labels" | "off"): Record<string, string> {
  const found = Object.entries((fields[name] ?? {}) as Record<string, unknown>);
  return Object.fromEntries(found.map(([url, value]) => [url, text(value)]));
}

function keysOf(fields: Record<string, unknown>, url: string): string[] {
  const disabled = Object.entries((fields["disabled"] ?? {}) as Record<string, unknown>);
  return disabled.filter(([, one]) => (one as { url?: unknown }).url === url).map(([key]) => key);
}

function settingsOf(db: Firestore, eventId: string) {
  return doc(db, "events", eventId, "settings", "webhooks");
}

function read(fields: Record<string, unknown>): Settings {
  const entries: unknown[] = Array.isArray(fields["urls"]) ? fields["urls"] : [];
  const disabled = (fields["disabled"] ?? {}) as Record<string, unknown>;
  const notify: unknown[] = Array.isArray(fields["notify"]) ? fields["notify"] : [];
  const [labels, off] = [textsOf(fields, "labels"), textsOf(fields, "off")];
  const endpoints = new Map<string, Endpoint>();
  const orders = recoverOf(fields);
  for (const entry of entries.slice(0, MAX_URLS)) {
    const url = urlOf(entry);
    if (endpoints.has(url)) continue;
    const given = (typeof entry === "object" && entry ? entry : {}) as { events?: unknown };
    const events = Array.isArray(given.events) ? given.events.filter(isEventType) : null;
    const [key] = keysOf(fields, url);
    const one = key && disabled[key];
    const { reason, at } = (one ?? {}) as { reason?: unknown; at?: unknown };
    endpoints.set(url, {
      url,
      events: events && `${[...events].sort()}` !== `${[...USUAL_EVENT_TYPES].sort()}` ? events : null,
      label: labels[url] ?? "",
      offSince: url in off ? new Date(off[url] || 0) : null,
      recover: orders.includes(url),
      disabled: key ? { key, reason: text(reason), at: date(at) } : null,
    });
  }
  return { endpoints: [...endpoints.values()], notify: notify.map(text).filter(Boolean) };
}

function entryOf({ url, events }: Pick<Endpoint, "url" | "events">): unknown {
  return events ? { url, events } : url;
}

// Settings of before have the order inside the entry.
function withoutOrder(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null || !("recover" in entry)) return entry;
  const { recover, ...rest } = entry;
  return rest;
}

function recoverOf(fields: Record<string, unknown>): string[] {
  const entries: unknown[] = Array.isArray(fields["urls"]) ? fields["urls"] : [];
  const inside = entries.filter((entry) => (entry as { recover?: unknown } | null)?.recover === true).map(urlOf);
  const given: unknown[] = Array.isArray(fields["recover"]) ? fields["recover"] : [];
  return [...new Set([...given.map(text), ...inside])];
}

function urlOf(entry: unknown): string {
  const url = typeof entry === "object" && entry !== null ? (entry as { url?: unknown }).url : entry;
  return text(url).trim();
}
