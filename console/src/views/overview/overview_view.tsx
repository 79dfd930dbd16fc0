import type { Firestore } from "firebase/firestore";
import { useMemo, useState } from "preact/hooks";

import type { Calls } from "../../data/calls.ts";
import { watchDeliveries } from "../../data/deliveries.ts";
import { type WallEvent, archiveEvent, changeEvent, deleteEvent, publishEvent } from "../../data/events.ts";
import { standingOf } from "../../data/health.ts";
import { first } from "../../data/listen.ts";
import { countPhotos, watchPhotos } from "../../data/photos.ts";
import { watchLock, watchRecaps } from "../../data/recaps.ts";
import { isAdmin } from "../../data/session.ts";
import { isOpenTo, linkTo } from "../../domain/address.ts";
import { type EventStatus, languageName } from "../../domain/event.ts";
import { problem } from "../../domain/endpoint.ts";
import { missingWords } from "../../domain/health.ts";
import { NO_FILTERS } from "../../domain/filters.ts";
import { STATUS_WORDS } from "../../domain/photo.ts";
import { recapWords } from "../../domain/recap.ts";
import { count, counted } from "../../domain/words.ts";
import { Ask } from "../../ui/form.tsx";
import { Heading } from "../../ui/heading.tsx";
import { Shown, useAsked, useLive } from "../../ui/live.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace, useSettings } from "../place.ts";
import { LockWords } from "../recap/recap_card.tsx";
import { PlannedWords } from "../recap/planned.tsx";
import { EventForm } from "./event_form.tsx";
import { WayIn } from "./way_in.tsx";

/** How the event stands, in live figures, and what an admin does with all of it. */
export function OverviewView({ event }: { readonly event: WallEvent }) {
  const { staff } = usePlace();
  const { status, publishedAt, archivedAt, galleryUrl, uploadUrl, autoApprove, language, replyTo, keepGuestDataDays } = event;
  const since = { draft: null, published: publishedAt, archived: archivedAt }[status];
  return (
    <div class="column">
      <Heading title={event.name}><Foreign>{event.name}</Foreign></Heading>
      <dl class="figures headline">
        <Photos />
        {isOpenTo(staff.role, "receivers") && <Receivers />}
        <LastRecap event={event} />
      </dl>
      <section class="card" aria-label="The event">
        <p>
          {EXPLAINED[status]}
          {since && <span class="quiet-text"> Since <When at={since} long />.</span>}
        </p>
        <dl class="facts">
          <div><dt>New photos</dt><dd>{autoApprove ? "show at once, without anybody looking at them" : "wait until somebody approves them"}</dd></div>
          <div><dt>Mails to guests</dt><dd><bdi lang={language}>{languageName(language)}</bdi>; answers go to {replyTo ? <Foreign>{replyTo}</Foreign> : "the operator of this service"}</dd></div>
          <div><dt>Upload page</dt><dd>{uploadUrl ? <Foreign>{uploadUrl}</Foreign> : "none"}</dd></div>
          <div><dt>Gallery page</dt><dd>{galleryUrl ? <Foreign>{galleryUrl}</Foreign> : "none"}</dd></div>
          <div><dt>Guests' names and addresses</dt><dd>{keepGuestDataDays ? `are removed ${count(keepGuestDataDays, "day", "days")} after archiving` : "stay"}</dd></div>
        </dl>
        {isAdmin(staff) && <Actions event={event} />}
      </section>
      {status === "published" && <WayIn event={event} />}
    </div>
  );
}

const DECIDED = ["approved", "rejected"] as const;

function Photos() {
  const { sdk, eventId, waiting } = usePlace();
  const approved = useLive(() => watchPhotos(sdk.db, eventId, "approved", first(1)), [sdk, eventId]);
  // Counted again whenever a photo comes or is decided on.
  const counts = useAsked(
    () => Promise.all(DECIDED.map((status) => countPhotos(sdk.db, eventId, status))),
    [sdk, eventId],
    `${waiting.news} ${approved.news}`,
  );
  return (
    <>
      <Figure name={STATUS_WORDS.pending} link={linkTo("photos", eventId)}>
        <Shown live={waiting} isFigure>{({ items, hasMore }) => `${items.length}${hasMore ? "+" : ""}`}</Shown>
      </Figure>
      {DECIDED.map((status, place) => (
        <Figure key={status} name={STATUS_WORDS[status]} link={linkTo("photos", eventId, { status })}>
          <Shown live={counts} isFigure>{(found) => counted(found[place] ?? 0)}</Shown>
        </Figure>
      ))}
    </>
  );
}

/** How many receivers fail. */
function Receivers() {
  const { sdk, eventId } = usePlace();
  const settings = useSettings();
  const opened = useMemo(() => new Date(), []);
  const latest = useLive(() => watchDeliveries(sdk.db, { eventId, endpointId: null, filters: NO_FILTERS, now: opened }, first(10)), [sdk, eventId]);
  const on = settings.value?.endpoints.filter(({ offSince }) => !offSince) ?? [];
  const failing = useAsked(
    async () => {
      const found = await Promise.all(on.map(async ({ id, url, disabled }) => {
        const { isFailing, missing } = await standingOf(sdk.db, eventId, id, new Date());
        return { isFailing: isFailing || disabled !== null || problem(url) !== null, missing };
      }));
      return { number: found.filter(({ isFailing }) => isFailing).length, missing: found.reduce((sum, { missing }) => sum + missing, 0) };
    },
    [sdk, eventId, JSON.stringify(on)],
    latest.value?.items.map(({ id, outcome }) => id + outcome).join(),
  );
  return (
    <Figure name="Receivers" link={linkTo("receivers", eventId)}>
      <Shown live={settings} isFigure>
        {({ endpoints }) => endpoints.length === 0 ? "none" : (
          <Shown live={failing} isFigure>
            {({ number, missing }) => (
              <>
                <span class={number ? "failing" : ""}>{number ? `${number} of ${on.length} failing` : `${on.length} of ${endpoints.length} on`}</span>
                {missing > 0 && <span class="small failing"><br />{missingWords(missing)}</span>}
              </>
            )}
          </Shown>
        )}
      </Shown>
    </Figure>
  );
}

function LastRecap({ event: { status } }: { readonly event: WallEvent }) {
  const { sdk, eventId, calls } = usePlace();
  const recaps = useLive(() => watchRecaps(sdk.db, eventId, first(1)), [sdk, eventId]);
  const lock = useLive(() => watchLock(sdk.db, eventId), [sdk, eventId]);
  const isOwed = status === "archived" && recaps.value?.items.length === 0;
  const owed = useAsked(async () => (isOwed ? firstRecipients(sdk.db, eventId, calls) : 0), [sdk, eventId, isOwed]);
  return (
    <Figure name="Last recap" link={linkTo("recap", eventId)}>
      <Shown live={recaps} isFigure>
        {({ items: [latest] }) => !latest ? (
          owed.value ? <span class="small failing">{count(owed.value, "guest has", "guests have")} had no recap.</span> : "none"
        ) : (
          <span class="small">
            {latest.startedAt && <><When at={latest.startedAt} />: </>}{recapWords(latest)}{" "}
            {lock.value && <LockWords lock={lock.value} />}
          </span>
        )}
      </Shown>
      {" "}<span class="small"><PlannedWords /></span>
    </Figure>
  );
}

const foreseen = new Map<string, number>();

/** Guests whom a first recap would go to. A preview reads all photos, so there is one for each number of approved photos. */
async function firstRecipients(db: Firestore, eventId: string, calls: Calls): Promise<number> {
  const approved = await countPhotos(db, eventId, "approved");
  if (!approved) return 0;
  const key = `${eventId} ${approved}`;
  const recipients = foreseen.get(key) ?? (await calls.preview({ mode: "personal" }, false)).recipients;
  foreseen.set(key, recipients);
  return recipients;
}

function Figure({ name, link, children }: { readonly name: string; readonly link: string; readonly children: preact.ComponentChildren }) {
  return <div><dt><a href={link}>{name}</a></dt><dd>{children}</dd></div>;
}

const EXPLAINED: Readonly<Record<EventStatus, string>> = {
  draft: "Only you and the other organizers see it. Guests can upload once it is published.",
  published: "Guests can upload photos.",
  archived: "Guests can upload no more photos; the gallery stays.",
};

function Actions({ event }: { readonly event: WallEvent }) {
  const { sdk, staff, eventId, waiting } = usePlace();
  const [open, setOpen] = useState<"" | "edit" | "publish" | "archive" | "delete">("");
  const close = () => setOpen("");
  return (
    <div class="actions">
      {event.status === "archived" && <a class="button primary" href={linkTo("recap", eventId)}>Write the recap</a>}
      {event.status !== "published" && (
        <button type="button" class={event.status === "draft" ? "primary" : ""} onClick={() => setOpen("publish")}>{event.status === "draft" ? "Publish…" : "Publish again…"}</button>
      )}
      {event.status === "published" && <button type="button" onClick={() => setOpen("archive")}>Archive…</button>}
      <button type="button" onClick={() => setOpen("edit")}>Edit</button>
      <button type="button" class="quiet danger" onClick={() => setOpen("delete")}>Delete…</button>
      {open === "edit" && (
        <EventForm title="Edit the event" staff={staff} before={event} save={(fields) => changeEvent(sdk.db, eventId, fields)} onClose={close} />
      )}
      {open === "publish" && (
        <Ask title="Publish the event?" action="Publish" run={() => publishEvent(sdk.db, eventId)} onClose={close}>
          <p>Guests can upload photos from now on. The receivers are notified.</p>
        </Ask>
      )}
      {open === "archive" && (
        <Ask title="Archive the event?" action="Archive" run={() => archiveEvent(sdk.db, eventId)} onClose={close}>
          <p>
            Guests can upload no more photos; those that are there stay. The receivers are notified. You can publish it again.
            {event.keepGuestDataDays && ` Names and addresses of guests are removed ${count(event.keepGuestDataDays, "day", "days")} later.`}
          </p>
        </Ask>
      )}
      {open === "delete" && (
        <Ask
          title="Delete the event?"
          action="Delete everything"
          kind="danger"
          close="Keep it"
          run={async () => {
            await deleteEvent(sdk.db, eventId);
            location.hash = "#/events";
          }}
          onClose={close}
        >
          <p>This goes with <strong><Foreign>{event.name}</Foreign></strong>, and cannot be brought back:</p>
          <ul>
            <li>all its photos{!!waiting.value?.items.length && `, of which ${waiting.value.items.length}${waiting.value.hasMore ? " or more" : ""} still wait`}, with names and addresses of guests</li>
            <li>its receivers, their deliveries, links and the secret</li>
            <li>its recaps and what is known of their mails</li>
          </ul>
          <p class="quiet-text">Pictures in your storage stay there. Its id cannot be used again. To end uploads only, archive it.</p>
        </Ask>
      )}
    </div>
  );
}
