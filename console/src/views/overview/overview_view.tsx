import { useState } from "preact/hooks";

import { type WallEvent, archiveEvent, publishEvent } from "../../data/events.ts";
import { isAdmin, seesDeliveries } from "../../data/session.ts";
import { type EventStatus, languageName, statusWords } from "../../domain/event.ts";
import { ActionButton, useWork } from "../../ui/busy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Heading } from "../../ui/heading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Foreign } from "../../ui/text.tsx";
import { When } from "../../ui/when.tsx";
import { usePlace } from "../place.ts";
import { EventDialog } from "./event_dialog.tsx";
import { GuestsTile } from "./guests_tile.tsx";
import { PhotosTile } from "./photos_tile.tsx";
import { RecapTile } from "./recap_tile.tsx";
import { WebhooksTile } from "./webhooks_tile.tsx";

/** How the event stands, and what an admin does with all of it. */
export function OverviewView({ event }: { readonly event: WallEvent }) {
  const { staff } = usePlace();
  return (
    <div class="column">
      <div class="view-head">
        <Heading title="Overview">Overview</Heading>
      </div>
      <StatusCard event={event} mayEdit={isAdmin(staff)} />
      <div class="tiles">
        <PhotosTile />
        <RecapTile />
        <GuestsTile />
        {seesDeliveries(staff) && <WebhooksTile />}
      </div>
    </div>
  );
}

type Open = "" | "edit" | "publish" | "archive";

function StatusCard({ event, mayEdit }: { readonly event: WallEvent; readonly mayEdit: boolean }) {
  const [open, setOpen] = useState<Open>("");
  const { status, publishedAt, archivedAt, galleryUrl, autoApprove, language, replyTo } = event;
  const close = () => setOpen("");
  const since = { draft: null, published: publishedAt, archived: archivedAt }[status];
  return (
    <section class="card" aria-labelledby="status">
      <div class="sheet-head">
        <h2 id="status"><Foreign>{event.name}</Foreign></h2>
        <span class={`badge ${BADGES[status]}`}>{statusWords(status)}</span>
      </div>
      <p>
        {EXPLAINED[status]}
        {since && <span class="quiet-text"> Since <When at={since} long />.</span>}
      </p>
      <p class="quiet-text">
        {autoApprove ? "Photos show at once, without anybody looking at them." : "Photos wait until somebody approves them."}{" "}
        Mails to guests: <bdi lang={language}>{languageName(language)}</bdi>
        {replyTo && <>, answers go to <Foreign>{replyTo}</Foreign></>}.{" "}
        {galleryUrl ? <>Gallery: <Foreign>{galleryUrl}</Foreign></> : "No gallery page is set."}
      </p>
      {mayEdit && (
        <div class="actions">
          {status !== "published" && (
            <button type="button" class="primary" onClick={() => setOpen("publish")}>
              {status === "draft" ? "Publish…" : "Publish again…"}
            </button>
          )}
          {status === "published" && <button type="button" onClick={() => setOpen("archive")}>Archive…</button>}
          <button type="button" onClick={() => setOpen("edit")}>Edit</button>
        </div>
      )}
      {open === "edit" && <EventDialog before={event} onClose={close} />}
      {open === "publish" && (
        <StatusDialog
          title="Publish the event?"
          text="Guests can upload photos from now on. Receivers of webhooks are told."
          action="Publish"
          run={publishEvent}
          onClose={close}
        />
      )}
      {open === "archive" && (
        <StatusDialog
          title="Archive the event?"
          text="Guests can upload no more photos; those that are there stay. Receivers of webhooks are told. You can publish it again."
          action="Archive"
          run={archiveEvent}
          onClose={close}
        />
      )}
    </section>
  );
}

const BADGES: Readonly<Record<EventStatus, string>> = { draft: "pending", published: "success", archived: "skipped" };
const EXPLAINED: Readonly<Record<EventStatus, string>> = {
  draft: "Only you and the other organizers see it. Guests can upload once it is published.",
  published: "Guests can upload photos.",
  archived: "Guests can upload no more photos; the gallery stays.",
};

interface StatusDialogProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly run: typeof publishEvent;
  readonly onClose: () => void;
}

function StatusDialog({ title, text, action, run, onClose }: StatusDialogProps) {
  const { sdk, eventId } = usePlace();
  const work = useWork();
  const act = () =>
    work.run(async () => {
      await run(sdk.db, eventId);
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        <p>{text}</p>
        {work.error && <Notice kind="error">{work.error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={onClose}>Cancel</button>
          <ActionButton busy={work.isBusy} kind="primary" onClick={act}>{action}</ActionButton>
        </div>
      </div>
    </Dialog>
  );
}
