import type { Outcome } from "../domain/delivery.ts";
import { parts } from "../domain/endpoint.ts";
import { eventWords, isEventType } from "../domain/event_type.ts";
import { OUTCOME_WORDS } from "../domain/words.ts";
import { OutcomeIcon } from "./icons.tsx";

/** Text of people: it cannot turn the direction of the text around it. */
export function Foreign({ children }: { children: string }) {
  return <bdi class="foreign">{children}</bdi>;
}

/** Who has done something: the address, with the uid in the title, because an address may be unverified. */
export function Who({ uid, email }: { readonly uid: string | null; readonly email: string }) {
  return <span title={uid ?? ""}><Foreign>{email || uid || "an unknown account"}</Foreign></span>;
}

/** The label of a URL, or its host and path; all of it is in the title. */
export function Url({ url, label = "", full = false }: { url: string; label?: string; full?: boolean }) {
  const { host, path } = parts(url);
  if (full) return <bdi class="foreign url">{url || "(empty)"}</bdi>;
  return (
    <bdi class={label ? "foreign" : "foreign url"} title={url}>
      <span class="host">{label || host}</span>
      <span class="path">{!label && path}</span>
    </bdi>
  );
}

/** The name of an event type for people, with its technical name. */
export function EventWords({ type }: { readonly type: string }) {
  return (
    <span class="event-words">
      <bdi>{eventWords(type)}</bdi>
      {isEventType(type) && <code>{type}</code>}
    </span>
  );
}

/** The outcome of a delivery: shape, word and color. */
export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`badge ${outcome}`}>
      <OutcomeIcon outcome={outcome} />
      {OUTCOME_WORDS[outcome]}
    </span>
  );
}
