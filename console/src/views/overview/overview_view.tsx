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
import { Ask, Field } from "../../ui/form.tsx";
import { Heading } from "../../ui/heading.tsx";
import { OutcomeIcon } from "../../ui/icons.tsx";
import { Shown, useAsked, useLive } from "../../ui/live.tsx";
import { Picture } from "../../ui/picture.tsx";
import { Foreign } from "../../ui/text.tsx";
import { tellOnce } from "../../ui/told.ts";
import { When } from "../../ui/when.tsx";
import { usePlace, useSettings } from "../place.ts";
import { LockWords } from "../recap/recap_card.tsx";
import { ScheduledWords } from "../recap/scheduled.tsx";
import { EventForm } from "./event_form.tsx";
import { WayIn } from "./way_in.tsx";

/** The event's status in live figures, and an admin's actions on the whole event. */
export function OverviewView({ event }: { readonly event: WallEvent }) {
  const { staff } = usePlace();
  const { status, publishedAt, archivedAt, galleryUrl, uploadUrl, autoApprove, language, replyTo, keepGuestDataDays, logoUrl, accentColor } = event;
  const since = { draft: null, published: publishedAt, archived: archivedAt }[status];
  return (
    <div class="column">
      <Heading title={event.name}><Foreign>{event.name}</Foreign></Heading>
      <dl class="figures headline">
        <Photos />
        {isOpenTo(staff.role, "receivers") && <Receivers />}
        <LastRecap event={event} />
      </dl>
      {isAdmin(staff) && status === "draft" && <FirstSteps event={event} />}
      <section class="card" aria-label="The event">
        <p>
          {EXPLAINED[status]}
          {since && <span class="quiet-text"> Since <When at={since} long />.</span>}
        </p>
        <dl class="facts">
          <div><dt>New photos</dt><dd>{autoApprove ? "Published automatically" : "Need approval"}</dd></div>
          <div><dt>Email language</dt><dd><bdi lang={language}>{languageName(language)}</bdi></dd></div>
          <div><dt>Reply-to</dt><dd>{replyTo ? <Foreign>{replyTo}</Foreign> : "Default (service administrator)"}</dd></div>
          <div><dt>Upload page</dt><dd>{uploadUrl ? <Foreign>{uploadUrl}</Foreign> : "None"}</dd></div>
          <div><dt>Gallery page</dt><dd>{galleryUrl ? <Foreign>{galleryUrl}</Foreign> : "None"}</dd></div>
          {logoUrl && <div><dt>Email logo</dt><dd class="logo"><Picture url={logoUrl} alt="Logo" /></dd></div>}
          {accentColor && <div><dt>Brand color</dt><dd><svg class="swatch" aria-hidden="true" viewBox="0 0 1 1"><rect width="1" height="1" fill={accentColor} /></svg> <bdi>{accentColor}</bdi></dd></div>}
          <div><dt>Guests' names and emails</dt><dd>{keepGuestDataDays ? `Deleted ${count(keepGuestDataDays, "day", "days")} after archiving` : "Kept indefinitely"}</dd></div>
        </dl>
        {isAdmin(staff) && <Actions event={event} />}
      </section>
      {status === "published" && <WayIn event={event} />}
    </div>
  );
}

/** The first steps of a new event, each with its state. */
function FirstSteps({ event: { status } }: { readonly event: WallEvent }) {
  const { sdk, eventId } = usePlace();
  const settings = useSettings();
  const now = useMemo(() => new Date(), []);
  const delivered = useLive(() => watchDeliveries(sdk.db, { eventId, endpointId: null, filters: { ...NO_FILTERS, outcome: "success" }, now }, first(1)), [sdk, eventId]);
  const steps = [
    ["Add an endpoint", "Optional: send signed notifications to your own systems.", Boolean(settings.value?.endpoints.length), linkTo("receivers", eventId)],
    ["Send a test", "See a test delivered to your endpoint.", Boolean(delivered.value?.items.length), linkTo("receivers", eventId)],
    ["Publish the event", "Guests can upload photos from then on.", status !== "draft", null],
  ] as const;
  return (
    <section class="card" aria-labelledby="steps">
      <h2 id="steps">Get started</h2>
      <ol class="steps">
        {steps.map(([title, words, isDone, link]) => (
          <li key={title}>
            <OutcomeIcon outcome={isDone ? "success" : "pending"} />
            <span>{link ? <a href={link}>{title}</a> : <strong>{title}</strong>} <span class="quiet-text">{words}</span> <span class="unseen">{isDone ? "Done" : "Not done yet"}</span></span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const DECIDED = ["approved", "rejected"] as const;

function Photos() {
  const { sdk, eventId, waiting, waitingWords } = usePlace();
  const approved = useLive(() => watchPhotos(sdk.db, eventId, "approved", first(1)), [sdk, eventId]);
  // Counted again whenever a photo comes or is decided on.
  const counts = useAsked(
    () => Promise.all(DECIDED.map((status) => countPhotos(sdk.db, eventId, status))),
    [sdk, eventId],
    waiting.value && approved.value ? `${waiting.news} ${approved.news}` : null,
  );
  return (
    <>
      <Figure name={STATUS_WORDS.pending} link={linkTo("photos", eventId)}>
        <Shown live={waiting} isFigure>{() => waitingWords || "0"}</Shown>
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
    latest.value?.items.map(({ id, outcome }) => id + outcome).join() ?? null,
  );
  return (
    <Figure name="Webhooks" link={linkTo("receivers", eventId)}>
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
          owed.value ? <span class="small failing">{count(owed.value, "guest hasn't", "guests haven't")} received a recap yet</span> : "none"
        ) : (
          <span class="small">
            {latest.startedAt && <><When at={latest.startedAt} />: </>}{recapWords(latest)}{" "}
            {lock.value && <LockWords lock={lock.value} />}
          </span>
        )}
      </Shown>
      {" "}<span class="small"><ScheduledWords /></span>
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
  draft: "Only organizers can see this event. Publish it to let guests upload photos.",
  published: "Guests can upload photos.",
  archived: "Uploads are closed. The gallery stays online.",
};

function Actions({ event }: { readonly event: WallEvent }) {
  const { sdk, staff, eventId, waitingWords } = usePlace();
  const [open, setOpen] = useState<"" | "edit" | "publish" | "archive" | "delete">("");
  const [typed, setTyped] = useState("");
  const close = () => setOpen("");
  return (
    <div class="actions">
      {event.status === "archived" && <a class="button primary" href={linkTo("recap", eventId)}>Create recap</a>}
      {event.status !== "published" && (
        <button type="button" class={event.status === "draft" ? "primary" : ""} onClick={() => setOpen("publish")}>{event.status === "draft" ? "Publish…" : "Reopen…"}</button>
      )}
      {event.status === "published" && <button type="button" onClick={() => setOpen("archive")}>Archive…</button>}
      <button type="button" onClick={() => setOpen("edit")}>Edit</button>
      <button type="button" class="quiet danger" onClick={() => setOpen("delete")}>Delete…</button>
      {open === "edit" && (
        <EventForm title="Edit the event" staff={staff} before={event} save={(fields) => changeEvent(sdk.db, eventId, fields)} onClose={close} />
      )}
      {open === "publish" && (
        <Ask title="Publish the event?" action="Publish" run={() => publishEvent(sdk.db, eventId)} onClose={close}>
          <p>Guests will be able to upload photos. Your webhooks will be notified.</p>
        </Ask>
      )}
      {open === "archive" && (
        <Ask title="Archive the event?" action="Archive" run={() => archiveEvent(sdk.db, eventId)} onClose={close}>
          <p>
            This closes uploads. Existing photos stay online, and your webhooks are notified. You can reopen the event at any time.
            {event.keepGuestDataDays && ` Guests' names and emails will be deleted ${count(event.keepGuestDataDays, "day", "days")} from now.`}
          </p>
        </Ask>
      )}
      {open === "delete" && (
        <Ask
          title="Delete the event?"
          action="Delete everything"
          kind="danger"
          close="Keep it"
          disabled={typed.trim() !== event.name.trim()}
          run={async () => {
            await deleteEvent(sdk.db, eventId);
            tellOnce(`“${event.name}” was deleted.`);
            location.hash = "#/events";
          }}
          onClose={close}
        >
          <p>Deleting <strong><Foreign>{event.name}</Foreign></strong> permanently removes:</p>
          <ul>
            <li>all photos{waitingWords && `, including ${waitingWords} awaiting approval`}, with guests' names and emails</li>
            <li>webhooks, their deliveries, shared logs and the secret</li>
            <li>recaps and their delivery status</li>
          </ul>
          <p class="quiet-text">Image files in your storage are not deleted. The event ID can't be reused. To only stop uploads, archive the event instead.</p>
          <Field label={`Type the event's name to confirm: ${event.name}`} value={typed} onChange={setTyped} />
        </Ask>
      )}
    </div>
  );
}
