import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { RefusedError } from "../../data/errors.ts";
import { type SharedPage, readSharedLog, resendShared } from "../../data/shared_log.ts";
import { signingCurl } from "../../domain/curl.ts";
import { type Delivery, isOpen } from "../../domain/delivery.ts";
import { type Filters, readFilters, writeFilters } from "../../domain/filters.ts";
import { Act } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { type Link, step } from "../../ui/token.ts";
import { Countdown, When } from "../../ui/when.tsx";
import { DeliveryRows, KindFields } from "../receivers/list.tsx";
import { DeliverySheet } from "../receivers/sheet.tsx";
import { Refusal } from "./refusals.tsx";

interface Place extends Filters {
  readonly deliveryId: string | null;
}

function readPlace(): Place {
  const fragment = new URLSearchParams(location.hash.slice(1));
  return { ...readFilters(fragment), deliveryId: fragment.get("delivery") };
}

function fragmentOf({ deliveryId, ...filters }: Place): string {
  const given = writeFilters(filters);
  if (deliveryId) given.set("delivery", deliveryId);
  const text = given.toString();
  return text && `#${text}`;
}

// Milliseconds after which the page looks what became of a delivery that was sent again: calls are few an hour.
const LOOKS_MS = [1500, 6000, 20_000];

// So long after it was due an attempt has mostly ended.
const ATTEMPT_MS = 3000;
// Times that the page looks for an attempt that is late.
const LOOKS_AT_ONE = 6;

/** The deliveries to one URL, for the endpoint's developers. */
export function LinkPage({ link: { token, event: eventName, receiver } }: { readonly link: Link }) {
  const [place, setPlace] = useState(readPlace);
  const [page, setPage] = useState<(SharedPage & { readonly asOf: Date }) | null>(null);
  // The latest known state of each delivery by id, including those that the list does not show.
  const [known, setKnown] = useState<ReadonlyMap<string, Delivery>>(new Map());
  const [error, setError] = useState<unknown>(null);
  const { outcome, event, deliveryId } = place;
  const latest = useRef(0);

  useLayoutEffect(() => {
    const follow = () => setPlace(readPlace());
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);

  const learn = (found: readonly Delivery[]) => setKnown((before) => new Map([...before, ...found.map((one) => [one.id, one] as const)]));

  async function load(after: string | null = null): Promise<void> {
    const mine = (latest.current += 1);
    setError(null);
    try {
      const found = await readSharedLog(token, { outcome, event }, after);
      // Only the latest request counts.
      if (mine !== latest.current) return;
      const before = after ? (page?.deliveries ?? []) : [];
      const ids = new Set(before.map(({ id }) => id));
      setPage({ ...found, deliveries: [...before, ...found.deliveries.filter(({ id }) => !ids.has(id))], asOf: new Date() });
      learn(found.deliveries);
    } catch (caught) {
      if (mine === latest.current) setError(caught);
    }
  }
  useEffect(() => void load(), [outcome, event]);
  // When the next attempt should have ended.
  const due = Math.min(...[...known.values()].filter(isOpen).map(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? Infinity));
  const tries = useRef({ due: 0, number: 0 });
  useEffect(() => {
    if (!page || due === Infinity) return;
    if (tries.current.due !== due) tries.current = { due, number: 0 };
    const { number } = tries.current;
    if (number >= LOOKS_AT_ONE) return;
    // An attempt that is late is looked for again, each time later: calls are few an hour.
    const timer = setTimeout(() => {
      tries.current.number += 1;
      void refresh();
    }, Math.max(0, due - Date.now()) + ATTEMPT_MS * 2 ** number);
    return () => clearTimeout(timer);
  }, [due, page]);

  // The shown rows stay in place.
  async function refresh(): Promise<void> {
    const found = await readSharedLog(token, { outcome, event }, null).catch(() => null);
    learn(found?.deliveries ?? []);
    if (found) setPage((before) => before && { ...before, asOf: new Date() });
  }

  async function sendAgain(delivery: Delivery): Promise<void> {
    await resendShared(token, delivery.id);
    learn([{ ...delivery, outcome: "pending", attempts: 0, round: delivery.round + 1, nextAttemptAt: null, endedAt: null }]);
    void look(delivery.id);
  }

  async function look(id: string): Promise<void> {
    for (const wait of LOOKS_MS) {
      await new Promise((done) => setTimeout(done, wait));
      // Without the list's filters, because the resent delivery may not match them.
      const found = await readSharedLog(token, { outcome: null, event: null }, null).catch(() => null);
      learn(found?.deliveries ?? []);
      const now = found?.deliveries.find((one) => one.id === id);
      if (now && !isOpen(now)) return;
    }
  }

  // The deliveries on the page stay, unless the link has ended.
  if (error && (!page || (error instanceof RefusedError && error.status === "PERMISSION_DENIED"))) return <Refusal error={error} onRetry={() => void load()} />;
  if (!page) return <main class="middle"><Skeleton rows={4} label="Loading deliveries…" /></main>;
  const delivery = known.get(deliveryId ?? "");
  const list = fragmentOf({ ...place, deliveryId: null });
  const set = (change: Partial<Place>) => step(fragmentOf({ ...place, ...change }));

  return (
    <>
      <header class="top">
        <span class="brand"><img src="/icon.svg" alt="" width="24" height="24" /><span>Webhook deliveries</span></span>
        <span class="event-name">
          <span class="slash" aria-hidden="true">/</span>
          {eventName && <><bdi class="foreign">{eventName}</bdi><span class="slash" aria-hidden="true">/</span></>}
          <bdi class="foreign">{receiver || page.url}</bdi>
        </span>
        <div class="who">
          <span class="person">
            <span>Link expires <Countdown to={page.expiresAt} /></span>
            <span class="role"><When at={page.expiresAt} /></span>
          </span>
        </div>
      </header>
      <main class="wide column list" onClick={follow}>
        {delivery ? (
          <DeliverySheet delivery={delivery} eventId={eventIdOf(delivery)} back={list || "#"}>
            <div class="actions">
              {page.canResend && <Act kind="primary" run={() => sendAgain(delivery)} disabled={isOpen(delivery)}>Resend</Act>}
              <CopyButton label="Copy as curl" text={() => curl(delivery)} />
              {isOpen(delivery) && <span class="quiet-text" role="status">In progress.</span>}
              {isOpen(delivery) && <Act kind="quiet" run={() => load()}>Refresh</Act>}
            </div>
          </DeliverySheet>
        ) : (
          <>
            <div class="view-head"><Heading title={`Deliveries to ${receiver || page.url}`}>Deliveries</Heading></div>
            <p class="quiet-text">
              To <bdi>{page.url}</bdi>. Anyone with this link can see these deliveries, but nothing else about the event.{" "}
              <a href="/events" target="_blank" rel="noopener">Event reference</a>,{" "}
              <a href="/events#signature" target="_blank" rel="noopener">How to verify signatures</a>
            </p>
            <form class="filters" role="search" aria-label="Deliveries" onSubmit={(submitted) => submitted.preventDefault()}>
              <KindFields filters={place} onChange={set} />
            </form>
            <p class="quiet-text" role="status">As of <When at={page.asOf} /> <Act kind="quiet" run={() => load()}>Refresh</Act></p>
            {Boolean(error) && <Notice kind="error">{wordsOf(error)}</Notice>}
            {page.deliveries.length ? (
              <DeliveryRows deliveries={page.deliveries.map((one) => known.get(one.id) ?? one)} isOneUrl linkOf={({ id }) => fragmentOf({ ...place, deliveryId: id })} />
            ) : (
              <Empty title={outcome || event ? "No matching deliveries" : "No deliveries yet"}>
                <p>{outcome || event ? "No deliveries match this filter." : "Deliveries to this URL appear here."}</p>
              </Empty>
            )}
            {page.next && <div class="actions middle-row"><Act run={() => load(page.next)}>Show older</Act></div>}
          </>
        )}
      </main>
    </>
  );
}

// Steps within the page keep the token: a plain link would begin an entry without it.
function follow(event: MouseEvent) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const target = link?.getAttribute("href");
  if (!target?.startsWith("#") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  step(target === "#" ? "" : target);
}

// The link reveals only the host, because paths can contain keys; the endpoint's developers know the path.
function curl(delivery: Delivery): string {
  return signingCurl({ ...delivery, url: `https://${delivery.url.replace(/~.*/, "")}/PATH` }, eventIdOf(delivery));
}

function eventIdOf({ body }: Delivery): string {
  try {
    const { eventId } = JSON.parse(body) as { eventId?: unknown };
    return typeof eventId === "string" ? eventId : "";
  } catch {
    return "";
  }
}
