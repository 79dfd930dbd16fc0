"""What is deleted in time: the documents under deleted events, and guests of archived ones.

    tombstone ▸ delete the documents under the event, page by page ▸ once more ▸ mark it emptied
    archived ▸ a timer ▸ the sweep that finds it due ▸ photos, page by page ▸ no timer any more

A deleted event leaves its tombstone and nothing else; its id is never given out again. The event as
it is now decides who may read the documents under it. No client can make an event where a tombstone
is (`firestore.rules`): another tenant's event would open the first's documents. What an operator
has restored from a backup stays.

Names and addresses of guests leave an event's photos some days after it was archived. The event as
it is now decides, when the timer is written and when it is due: triggers may run late and out of
order.

Each step can be repeated, and stopped anywhere: the sweep goes on. A function that was at work
during a deletion may write another orphan; the sweep deletes it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from functions import log
from functions.firestore.model import (
    NAME,
    ChangedMeanwhileError,
    Delete,
    Document,
    Documents,
    Put,
    Query,
    Update,
    Write,
    time,
)
from functions.ports import Clock
from functions.wall.wall_event import EventStatus


class TimeUpError(Exception):
    """Time was up; the next run goes on."""


_PAGE: Final = 500
"""The most writes that one BatchWrite takes."""

_TOMBSTONES: Final = 100
"""Deleted events of one sweep."""

SETTLED: Final = timedelta(minutes=15)
"""After that time no function is at work any more that began before the deletion."""

_EMPTYING_SECONDS: Final = 60.0
"""Half of the trigger's time: the rest is for the calls that are under way then."""


@dataclass(frozen=True, slots=True)
class OrphanCleanup:
    """Deletes the orphans of deleted events."""

    documents: Documents
    clock: Clock
    page_size: int = _PAGE

    def empty(self, event_id: str) -> None:
        """Delete the documents under an event that was deleted, and is not restored.

        Raises:
            TimeUpError: a minute was not enough; run it again.
        """
        if self._is_restored(event_id):
            return
        self.documents.commit(Put(f"deletedEvents/{event_id}", {"deletedAt": self.clock.now()}))
        self._delete_all(event_id, self.clock.monotonic() + _EMPTYING_SECONDS)

    def sweep(self) -> None:
        """Delete late orphans of every event that was deleted a while ago, and mark its tombstone.

        Raises:
            TimeUpError: a minute was not enough; the next sweeps go on, with other events first.
        """
        until = self.clock.monotonic() + _EMPTYING_SECONDS
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", self.clock.now() - SETTLED)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        for tombstone in self.documents.find(tombstones):
            try:
                if not self._is_restored(tombstone.id):
                    self._delete_all(tombstone.id, until)
            except Exception:  # the next sweeps begin with other events
                self.documents.commit(Put(tombstone.path, {"deletedAt": self.clock.now()}))
                raise
            self._mark_emptied(tombstone)

    def _is_restored(self, event_id: str) -> bool:
        """Whether a script has made the event again since it had its tombstone; no client can."""
        paths = (f"events/{event_id}", f"deletedEvents/{event_id}")
        event, tombstone = self.documents.get_all(paths)
        return bool(event and tombstone and event.created > tombstone.created)

    def _delete_all(self, event_id: str, until: float) -> None:
        """Delete the documents under the event, at any depth."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # also a collection whose parent is gone
            select=[NAME],
            limit=self.page_size,
        )
        deleted = 0
        while page := self.documents.find(orphans):
            self.documents.write_each([Delete(orphan.path) for orphan in page])
            deleted += len(page)
            if self.clock.monotonic() > until:
                raise TimeUpError
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)

    def _mark_emptied(self, tombstone: Document) -> None:
        """Mark it as emptied for good, unless it was written since: no `deletedAt` is left."""
        fields = {"emptiedAt": self.clock.now()}
        marked = Update(tombstone.path, fields, delete=["deletedAt"], version=tombstone.version)
        with suppress(ChangedMeanwhileError):  # the trigger has run again: the next sweep marks it
            self.documents.commit(marked)


KEEP_DAYS: Final = "keepGuestDataDays"
"""The field of an event with the days until its guests are forgotten, from its archiving on."""

MAX_DAYS: Final = 3650

_LATEST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=MAX_DAYS)

_EVENTS: Final = 20
"""Archived events of one sweep."""

_FORGETTING_SECONDS: Final = 30.0
"""Seconds of one sweep, which has other work as well."""


def keep_days(event: Document | None) -> int | None:
    """Return the days until the guests of the event are forgotten; None if they are kept.

    A script may have written a whole number as `30.0`.
    """
    days = event.fields.get(KEEP_DAYS) if event else None
    if isinstance(days, bool) or not isinstance(days, int | float):
        return None
    return int(days) if 0 < days <= MAX_DAYS and days == int(days) else None


def _has_unusable_days(event: Document | None) -> bool:
    """Return whether the event is archived with days that the service can't use."""
    fields = event.fields if event else {}
    is_archived = fields.get("status") == EventStatus.ARCHIVED
    return is_archived and fields.get(KEEP_DAYS) is not None and keep_days(event) is None


def _lacks_archiving_time(event: Document | None) -> bool:
    """Return whether guests of the archived event are to be forgotten, but from when is unknown."""
    fields = event.fields if event else {}
    is_archived = fields.get("status") == EventStatus.ARCHIVED
    return is_archived and keep_days(event) is not None and time(fields.get("archivedAt")) is None


def due_at(event: Document | None) -> datetime | None:
    """When the guests of the event are forgotten; None: never."""
    fields = event.fields if event else {}
    days, archived = keep_days(event), time(fields.get("archivedAt"))
    if fields.get("status") != EventStatus.ARCHIVED or archived is None or days is None:
        return None
    return min(archived, _LATEST) + timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Forgets the guests of archived events in time."""

    documents: Documents
    clock: Clock
    page_size: int = _PAGE

    def event_written(self, before: Document | None, after: Document) -> None:
        """Schedule what a write of the event changes, and log a number of days that is unusable.

        An event that a script archived without a usable `archivedAt` gets the time of this write.
        """
        event_id = after.id
        if _has_unusable_days(after) and not _has_unusable_days(before):
            log.error("event.guests-kept", eventId=event_id)
        if _lacks_archiving_time(after):

            def writes(event: Document | None) -> Sequence[Write]:
                fields = {"archivedAt": after.written}
                return [Update(after.path, fields)] if _lacks_archiving_time(event) else []

            self.documents.transact(after.path, writes)
            self.schedule(event_id)
        elif due_at(before) != due_at(after):
            self.schedule(event_id)

    def schedule(self, event_id: str) -> None:
        """Write or delete the timer of an event, as the event is now."""
        timer = _timer(event_id)

        def writes(event: Document | None) -> Sequence[Write]:
            at = due_at(event)
            return [Put(timer, {"dueAt": at}) if at else Delete(timer)]

        # A late trigger, which saw the event published, deletes no timer of an event archived anew.
        self.documents.transact(f"events/{event_id}", writes)

    def sweep(self) -> None:
        """Forget the guests of every event whose time has come, the event due first at first.

        Raises:
            TimeUpError: half a minute was not enough; the next sweep goes on, with other events
                first.
        """
        until = self.clock.monotonic() + _FORGETTING_SECONDS
        timers = Query(
            collection="guestData",
            group=True,
            where=[("dueAt", "<=", self.clock.now())],
            order=["dueAt"],
            limit=_EVENTS,
        )
        for timer in self.documents.find(timers):
            event_id = timer.path.split("/")[1]
            if timer.path != _timer(event_id):
                continue
            at = due_at(self.documents.get(f"events/{event_id}"))
            if at is None or at > self.clock.now():
                self.schedule(event_id)
                continue
            forgotten = self._forget(event_id, timer.fields.get("after"), until)
            with suppress(ChangedMeanwhileError):  # the event was archived anew
                self.documents.commit(Delete(timer.path, timer.version))
            log.info("event.guests-forgotten", eventId=event_id, photos=forgotten)

    def _forget(self, event_id: str, after: str | None, until: float) -> int:
        """Take guests out of the photos behind `after`, by id; out of how many photos."""
        photos = Query(
            collection=f"events/{event_id}/photos",
            select=["uploaderName", "uploaderEmail"],
            limit=self.page_size,
        )
        page = replace(photos, after=[f"{photos.collection}/{after}"]) if after else photos
        forgotten = 0
        while read := self.documents.find(page):
            telling = [photo for photo in read if any(photo.fields.values())]
            without_guest = [
                Update(photo.path, {"uploaderName": ""}, delete=["uploaderEmail"])
                for photo in telling
            ]
            written = self.documents.write_each(without_guest) if telling else []
            taken = sum(not isinstance(result, Exception) for result in written)
            forgotten += taken
            if taken == len(telling):  # else the page is read again
                after = read[-1].id
                page = replace(photos, after=[read[-1].path])
            if self.clock.monotonic() > until:
                progress = {"dueAt": self.clock.now()} | ({"after": after} if after else {})
                self.documents.commit(Put(_timer(event_id), progress))
                raise TimeUpError
        return forgotten


def _timer(event_id: str) -> str:
    return f"events/{event_id}/guestData/timer"
