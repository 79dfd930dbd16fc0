import { useEffect, useRef, useState } from "preact/hooks";

import { RefusedError } from "../../data/errors.ts";
import { type SharedPage, readSharedLog, resendShared } from "../../data/shared_log.ts";
import { signingCurl } from "../../domain/curl.ts";
import { type Delivery, OUTCOMES, type Outcome, isOpen, isOutcome } from "../../domain/delivery.ts";
import { EVENT_TYPES, EVENT_WORDS, type EventType, isEventType } from "../../domain/event_type.ts";
import { OUTCOME_WORDS } from "../../domain/words.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { wordsOf } from "../../ui/errors.ts";
import { Heading } from "../../ui/heading.tsx";
import { Empty, Notice, Skeleton } from "../../ui/notice.tsx";
import { step } from "../../ui/token.ts";
import { Countdown, When } from "../../ui/when.tsx";
import { Older } from "../deliveries/older.tsx";
import { DeliverySheet } from "../deliveries/sheet.tsx";
import { DeliveryTable } from "../deliveries/table.tsx";
import { SignatureView } from "../signature.tsx";
import { Refusal } from "./refusals.tsx";

interface Place {
  readonly outcome: Outcome | null;
  readonly event: EventType | null;
  readonly deliveryId: string | null;
  readonly isChecking: boolean;
}

function readPlace(): Place {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const outcome = fragment.get("outcome");
  const event = fragment.get("type");
  return {
    outcome: isOutcome(outcome) ? outcome : null,
    event: isEventType(event) ? event : null,
    deliveryId: fragment.get("delivery"),
    isChecking: fragment.has("signature"),
  };
}

function fragmentOf({ outcome, event, deliveryId, isChecking }: Place): string {
  const fragment = new URLSearchParams();
  if (outcome) fragment.set("outcome", outcome);
  if (event) fragment.set("type", event);
  if (deliveryId) fragment.set("delivery", deliveryId);
  if (isChecking) fragment.set("signature", "");
  const text = fragment.toString();
  return text && `#${text}`;
}

/** The deliveries to one URL. Calls are few an hour, so the page makes one where it is asked to. */
export function ReceiverPage({ token }: { readonly token: string }) {
  const [place, setPlace] = useState(readPlace);
  const [page, setPage] = useState<SharedPage | null>(null);
  const [asOf, setAsOf] = useState(() => new Date());
  const [failure, setFailure] = useState<unknown>(null);
  const [older, setOlder] = useState<"none" | "more" | "loading" | "failed">("none");
  const { outcome, event, deliveryId, isChecking } = place;
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState("");
  const latest = useRef(0);

  useEffect(() => {
    const follow = () => setPlace(readPlace());
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);

  async function load(): Promise<void> {
    const mine = (latest.current += 1);
    setLoading(true);
    setError("");
    try {
      const found = await readSharedLog(token, { outcome, event }, null);
      // What was asked for later has the say.
      if (mine !== latest.current) return;
      setPage(found);
      setAsOf(new Date());
      setOlder(found.next ? "more" : "none");
      setFailure(null);
    } catch (caught) {
      if (mine !== latest.current) return;
      // The deliveries on the page stay, unless the link has ended.
      const isEnded = caught instanceof RefusedError && caught.status === "PERMISSION_DENIED";
      if (!page || isEnded) setFailure(caught);
      else setError(wordsOf(caught));
    }
    setLoading(false);
  }
  useEffect(() => void load(), [outcome, event]);

  async function loadOlder() {
    if (!page?.next) return;
    setOlder("loading");
    try {
      const found = await readSharedLog(token, { outcome, event }, page.next);
      const known = new Set(page.deliveries.map(({ id }) => id));
      const deliveries = [...page.deliveries, ...found.deliveries.filter(({ id }) => !known.has(id))];
      setPage({ ...found, deliveries });
      setOlder(found.next ? "more" : "none");
    } catch {
      setOlder("failed");
    }
  }

  if (failure) return <Refusal error={failure} onRetry={() => void load()} />;
  if (!page) return <main class="middle"><Skeleton rows={4} label="Loading deliveries…" /></main>;
  const delivery = deliveryId === null ? null : page.deliveries.find(({ id }) => id === deliveryId);
  const list = fragmentOf({ ...place, deliveryId: null, isChecking: false });

  return (
    <>
      <header class="top">
        <span class="brand">
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>Webhook deliveries</span>
        </span>
        <span class="event-name">
          <span class="slash" aria-hidden="true">/</span>
          <bdi class="foreign mono">{page.url}</bdi>
        </span>
        <span class="who person">
          <span>Link ends <Countdown to={page.expiresAt} /></span>
          <span class="role"><When at={page.expiresAt} /></span>
        </span>
      </header>
      <nav class="tabs" aria-label="Views">
        <ul>
          <li><Step to={list} isHere={!isChecking}>Deliveries</Step></li>
          <li><Step to="#signature=" isHere={isChecking}>Signature checker</Step></li>
        </ul>
      </nav>
      <main class={isChecking ? "" : "wide list"} onClick={follow}>
        {isChecking ? (
          <SignatureView />
        ) : delivery ? (
          <DeliverySheet delivery={delivery} eventId={eventIdOf(delivery)} back={list || "#"}>
            <Actions token={token} delivery={delivery} canResend={page.canResend} onSent={load} />
          </DeliverySheet>
        ) : (
          <>
            <div class="view-head"><Heading title="Deliveries">Deliveries</Heading></div>
            <Filters place={place} />
            <p class="connection still" role="status">
              As of <When at={asOf} />
              <ActionButton busy={isLoading} kind="quiet" onClick={() => void load()}>Refresh</ActionButton>
            </p>
            {error && <Notice kind="error">{error}</Notice>}
            {page.deliveries.length ? (
              <DeliveryTable
                deliveries={page.deliveries}
                isOneUrl
                linkOf={({ id }) => fragmentOf({ ...place, deliveryId: id })}
              />
            ) : (
              <Empty title={outcome || event ? "No delivery fits" : "Nothing delivered yet"}>
                <p>{outcome || event ? "Nothing on record is of this kind." : "As soon as something is sent to this URL, it shows here."}</p>
              </Empty>
            )}
            <Older state={older} onMore={() => void loadOlder()} isByHand />
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

function Step({ to, isHere, children }: { readonly to: string; readonly isHere: boolean; readonly children: string }) {
  return (
    <a href={to || "#"} onClick={follow} aria-current={isHere ? "page" : undefined}>
      {children}
    </a>
  );
}

function Filters({ place }: { readonly place: Place }) {
  const set = (change: Partial<Place>) => step(fragmentOf({ ...place, ...change }));
  return (
    <form class="filters" role="search" aria-label="Deliveries" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label for="filter-outcome">Outcome</label>
        <select
          id="filter-outcome"
          value={place.outcome ?? ""}
          onChange={(event) => set({ outcome: (event.currentTarget.value || null) as Outcome | null })}
        >
          <option value="">Any</option>
          {OUTCOMES.map((one) => <option key={one} value={one}>{OUTCOME_WORDS[one]}</option>)}
        </select>
      </div>
      <div class="field">
        <label for="filter-type">What happened</label>
        <select
          id="filter-type"
          value={place.event ?? ""}
          onChange={(event) => set({ event: (event.currentTarget.value || null) as EventType | null })}
        >
          <option value="">Any</option>
          {EVENT_TYPES.map((type) => <option key={type} value={type}>{EVENT_WORDS[type]} ({type})</option>)}
        </select>
      </div>
    </form>
  );
}

interface ActionsProps {
  readonly token: string;
  readonly delivery: Delivery;
  readonly canResend: boolean;
  readonly onSent: () => Promise<void>;
}

// Milliseconds after which most receivers have answered.
const ANSWERED_AFTER = 3000;

function Actions({ token, delivery, canResend, onSent }: ActionsProps) {
  const work = useWork();
  const [told, setTold] = useState("");
  const resend = () =>
    work.run(async () => {
      await resendShared(token, delivery.id);
      setTold("It is on its way again.");
      await new Promise((done) => setTimeout(done, ANSWERED_AFTER));
      await onSent();
    });
  // The link tells the host alone, because paths hold keys; the receiver's people know the path.
  const host = delivery.url.replace(/~.*/, "");
  const curl = () => signingCurl({ ...delivery, url: `https://${host}/PATH` }, eventIdOf(delivery));
  return (
    <div class="actions">
      {canResend && (
        <ActionButton busy={work.isBusy} kind="primary" onClick={resend} disabled={isOpen(delivery)}>
          Send again
        </ActionButton>
      )}
      <CopyButton label="Copy as curl" text={curl} />
      {isOpen(delivery) && <ActionButton busy={false} kind="quiet" onClick={() => void onSent()}>Refresh</ActionButton>}
      {told && !work.error && <Notice kind="success">{told}</Notice>}
      {work.error && <Notice kind="error">{work.error}</Notice>}
    </div>
  );
}

function eventIdOf({ body }: Delivery): string {
  try {
    const { eventId } = JSON.parse(body) as { eventId?: unknown };
    return typeof eventId === "string" ? eventId : "";
  } catch {
    return "";
  }
}
