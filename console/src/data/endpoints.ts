// The receivers of an event: `settings/webhooks`.

import { type DocumentData, type Firestore, doc, runTransaction, serverTimestamp } from "firebase/firestore";

import { type Endpoint, MAX_URLS, keyOf } from "../domain/endpoint.ts";
import { EVENT_TYPES, type EventType, USUAL_EVENT_TYPES } from "../domain/event_type.ts";
import { ChangedMeanwhileError, answered } from "./errors.ts";
import { date, text } from "./fields.ts";
import { type Watch, watchOne } from "./listen.ts";

export interface Settings {
  readonly endpoints: readonly Endpoint[];
  readonly notify: readonly string[];
  /** When a URL, its events or its place was last changed; null if it is not recorded. */
  readonly changedAt: Date | null;
}

/** The settings, whenever they change; without any if there is no document. */
export function watchSettings(db: Firestore, eventId: string): Watch<Settings> {
  let latest = 0;
  return (tell, fail) =>
    watchOne(settingsOf(db, eventId), (found) => found.data())((fields) => {
      const mine = (latest += 1);
      read(fields ?? {}).then((settings) => mine === latest && tell(settings), fail);
    }, fail);
}

/** Puts `endpoint` in the place of the endpoint with its id, or at the end. */
export function saveEndpoint(db: Firestore, eventId: string, endpoint: Endpoint): Promise<void> {
  return change(db, eventId, (before) => {
    if (before.some(({ id, url }) => url === endpoint.url && id !== endpoint.id)) {
      throw new ChangedMeanwhileError("The event has this URL already.");
    }
    if (before.some(({ id }) => id === endpoint.id)) return before.map((one) => (one.id === endpoint.id ? endpoint : one));
    if (before.length >= MAX_URLS) throw new ChangedMeanwhileError(`The event has ${MAX_URLS} receivers already.`);
    return [...before, endpoint];
  });
}

export function removeEndpoint(db: Firestore, eventId: string, id: string): Promise<void> {
  return change(db, eventId, (before) => before.filter((one) => one.id !== id));
}

/** Returns a random id for a new endpoint, which reveals nothing about its URL. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => (byte % 36).toString(36)).join("");
}

// Writes what has changed: `urls` only if a URL, its events or its place has.
function change(db: Firestore, eventId: string, changed: (before: readonly Endpoint[]) => readonly Endpoint[]): Promise<void> {
  return save(db, eventId, "the receivers", ({ endpoints: before }, known) => {
    const fields = known ?? {};
    const after = changed(before);
    const urls = after.map(entryOf);
    const isUrls = JSON.stringify(urls) !== JSON.stringify(before.map(entryOf)) || !known;
    const disabled = (fields["disabled"] ?? {}) as Record<string, unknown>;
    const isDisabled = ([key, one]: [string, unknown]) => {
      const { url } = (one ?? {}) as { url?: unknown };
      return after.some((endpoint) => endpoint.disabled && (endpoint.id === key || endpoint.url === url));
    };
    const orNot = (name: string, values: object) => (Object.keys(values).length || name in fields ? { [name]: values } : {});
    return {
      ...(isUrls && { urls, urlsChangedAt: serverTimestamp() }),
      ...orNot("labels", textsOf(after, ({ label }) => label)),
      ...orNot("off", textsOf(after, ({ offSince }) => offSince?.toISOString() ?? "")),
      ...orNot("disabled", Object.fromEntries(Object.entries(disabled).filter(isDisabled))),
      recover: recovered(after),
    };
  });
}

/** Says who gets a mail when a receiver fails. */
export function saveNotify(db: Firestore, eventId: string, changed: (notify: readonly string[]) => readonly string[]): Promise<void> {
  return save(db, eventId, "who gets a mail", ({ notify }, known) => ({
    // The rules want a list of URLs, be it empty.
    ...(!known && { urls: [], urlsChangedAt: serverTimestamp() }),
    notify: changed(notify),
  }));
}

// In a transaction, so that two admins do not overwrite each other.
async function save(db: Firestore, eventId: string, lookAt: string, changed: (settings: Settings, known: DocumentData | undefined) => object): Promise<void> {
  const place = settingsOf(db, eventId);
  const saving = runTransaction(db, async (transaction) => {
    const known = (await transaction.get(place)).data();
    transaction.set(place, { ...known, ...changed(await read(known ?? {}), known) });
  });
  await answered(saving, lookAt);
}

function settingsOf(db: Firestore, eventId: string) {
  return doc(db, "events", eventId, "settings", "webhooks");
}

function textsOf(endpoints: readonly Endpoint[], textOf: (endpoint: Endpoint) => string): Record<string, string> {
  return Object.fromEntries(endpoints.map((one) => [one.id, textOf(one)] as const).filter(([, words]) => words));
}

function recovered(endpoints: readonly Endpoint[]): readonly string[] {
  return endpoints.filter(({ recover }) => recover).map(({ id }) => id);
}

function entryOf({ id, url, events }: Endpoint) {
  return { id, url, ...(events && { events }) };
}

// Older settings, from before endpoints had ids, use the URL or its key as the name of a field.
async function read(fields: DocumentData): Promise<Settings> {
  const map = (name: string) => (fields[name] ?? {}) as Record<string, unknown>;
  const [labels, off, disabled] = [map("labels"), map("off"), map("disabled")];
  const recover = list(fields["recover"]);
  // As in the service: a URL with two entries has the event types of both, and an id belongs to its first entry.
  const endpoints = new Map<string, Endpoint>();
  const types = new Map<string, readonly EventType[]>();
  for (const entry of list(fields["urls"]).slice(0, MAX_URLS)) {
    const given = (typeof entry === "object" && entry ? entry : { url: entry }) as Record<string, unknown>;
    const url = text(given["url"]).trim();
    const key = await keyOf(url);
    const before = endpoints.get(url);
    const isTaken = [...endpoints.values()].some((one) => one.id === given["id"]);
    const id = before?.id ?? ((!isTaken && text(given["id"])) || key);
    const chosen = "events" in given ? list(given["events"]) : USUAL_EVENT_TYPES;
    const events = EVENT_TYPES.filter((type) => chosen.includes(type) || types.get(url)?.includes(type));
    types.set(url, events);
    const since = text(off[id]) || text(off[url]);
    const dead = (disabled[id] ?? disabled[key] ?? null) as Record<string, unknown> | null;
    endpoints.set(url, {
      id,
      url,
      unknownEvents: [...new Set([...(before?.unknownEvents ?? []), ...chosen.filter((type) => !(EVENT_TYPES as readonly unknown[]).includes(type)).map((type) => String(type).slice(0, 60))])],
      events: `${events}` === `${USUAL_EVENT_TYPES}` ? null : events,
      label: text(labels[id]) || text(labels[url]),
      offSince: since ? new Date(since) : null,
      recover: recover.includes(id) || recover.includes(url),
      disabled: dead && { reason: text(dead["reason"]), at: date(dead["at"]) },
    });
  }
  return { endpoints: [...endpoints.values()], notify: list(fields["notify"]).map(text).filter(Boolean), changedAt: date(fields["urlsChangedAt"]) };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
