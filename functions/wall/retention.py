"""Data retention: purge subcollections of deleted events and guest data of archived events.

    deleted ▸ tombstone ▸ delete the documents under the event in pages ▸ repeat ▸ mark as emptied
    archived ▸ timer ▸ a sweep when it is due ▸ clean the photos in pages ▸ delete the timer

A deleted event leaves only its tombstone, and its ID is never reused. The current event decides who
may read the documents under it. Therefore no client can create an event with a tombstone
(`firestore.rules`), because another tenant's event would expose the first tenant's documents. An
event that an operator has restored from a backup stays.

The names and addresses of guests are removed from an event's photos some days after it was
archived. Both the write of the timer and the sweep read the current event, because triggers may run
late and out of order.

Every step is idempotent and can be interrupted. The next sweep continues. A function that runs
during a deletion may write another orphan, which the sweep deletes.
"""

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from functions import log, ports
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
    as_time,
)
from functions.wall.wall_event import EventStatus


class TimeUpError(Exception):
    """The time is over. The next run continues."""


_PAGE: Final = 500
"""Maximum writes of one BatchWrite."""

_TOMBSTONES: Final = 100
"""Maximum deleted events of one sweep."""

QUIET_AFTER_DELETE: Final = timedelta(minutes=15)
"""Time after which every function that started before the deletion has ended."""

_EMPTYING_SECONDS: Final = 60.0
"""Half of the trigger's timeout. The rest is reserved for calls that are still running."""


@dataclass(frozen=True, slots=True)
class OrphanCleanup:
    """Use case: delete the orphaned documents of deleted events."""

    documents: Documents
    clock: ports.Clock
    page_size: int = _PAGE

    def empty(self, event_id: str) -> None:
        """Delete the documents under a deleted event, unless the event was restored.

        Raises:
            TimeUpError: A minute was not enough. Call the function again.
        """
        if self._is_restored(event_id):
            return
        self.documents.commit(Put(f"deletedEvents/{event_id}", {"deletedAt": self.clock.now()}))
        self._delete_all(event_id, self.clock.monotonic() + _EMPTYING_SECONDS)

    def sweep(self) -> None:
        """Delete late orphans of events that were deleted a while ago, and mark their tombstones.

        Raises:
            TimeUpError: A minute was not enough. The next sweep continues, with other events first.
        """
        until = self.clock.monotonic() + _EMPTYING_SECONDS
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", self.clock.now() - QUIET_AFTER_DELETE)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        for tombstone in self.documents.find(tombstones):
            try:
                if not self._is_restored(tombstone.id):
                    self._delete_all(tombstone.id, until)
            except Exception:  # the next sweeps start with other events
                self.documents.commit(Put(tombstone.path, {"deletedAt": self.clock.now()}))
                raise
            self._mark_emptied(tombstone)

    def _is_restored(self, event_id: str) -> bool:
        """Return whether a script has created the event again after its tombstone."""
        paths = (f"events/{event_id}", f"deletedEvents/{event_id}")
        event, tombstone = self.documents.get_all(paths)
        return bool(event and tombstone and event.created > tombstone.created)

    def _delete_all(self, event_id: str, until: float) -> None:
        """Delete the documents under the event, at any depth."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # includes collections without a parent document
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
        """Mark the tombstone as emptied, without `deletedAt`, unless it has changed."""
        fields = {"emptiedAt": self.clock.now()}
        marked = Update(tombstone.path, fields, delete=["deletedAt"], version=tombstone.version)
        with suppress(ChangedMeanwhileError):  # the trigger ran again, and the next sweep marks it
            self.documents.commit(marked)


KEEP_DAYS: Final = "keepGuestDataDays"
"""Field of an event with the number of days from archiving to the removal of guest data."""

MAX_DAYS: Final = 3650

_CLOCK_ERROR: Final = timedelta(days=1)
"""Maximum error of a script's clock or time zone."""

_LATEST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=MAX_DAYS)

_EVENTS: Final = 20
"""Maximum archived events of one sweep."""

_TIMERS_READ: Final = 1000
"""Timers of one read. An app may have a collection `guestData` of its own, which is skipped."""

_FORGETTING_SECONDS: Final = 30.0
"""Maximum seconds of this part of the sweep."""


def keep_days(event: Document | None) -> int | None:
    """Return the days until the event's guest data is removed, or None if it is kept.

    A script may have written a whole number as `30.0`.
    """
    days = event.fields.get(KEEP_DAYS) if event else None
    if isinstance(days, bool) or not isinstance(days, int | float):
        return None
    return int(days) if 0 < days <= MAX_DAYS and days == int(days) else None


def _has_unusable_days(event: Document | None) -> bool:
    """Return whether the event is archived with an invalid number of days."""
    fields = event.fields if event else {}
    is_archived = fields.get("status") == EventStatus.ARCHIVED
    return is_archived and fields.get(KEEP_DAYS) is not None and keep_days(event) is None


def _lacks_archiving_time(event: Document | None) -> bool:
    """Return whether the event is archived with a number of days, but without `archivedAt`.

    A time after the write cannot be true either. A script may have mistaken its unit.
    """
    fields = event.fields if event else {}
    if event is None or fields.get("status") != EventStatus.ARCHIVED or keep_days(event) is None:
        return False
    archived = as_time(fields.get("archivedAt"))
    return archived is None or archived > event.written + _CLOCK_ERROR


def due_at(event: Document | None) -> datetime | None:
    """Return the time at which the event's guest data is removed, or None for never."""
    fields = event.fields if event else {}
    days, archived = keep_days(event), as_time(fields.get("archivedAt"))
    if fields.get("status") != EventStatus.ARCHIVED or archived is None or days is None:
        return None
    return min(archived, _LATEST) + timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Use case: remove the guest data of archived events when it is due."""

    documents: Documents
    clock: ports.Clock
    page_size: int = _PAGE

    def event_written(self, before: Document | None, after: Document) -> None:
        """Update the timer after a write of the event, and log an invalid number of days.

        If a script archived the event without a valid `archivedAt`, set the time of this write.
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
        """Write or delete the timer of an event according to its current state."""
        timer = _timer(event_id)

        def writes(event: Document | None) -> Sequence[Write]:
            at = due_at(event)
            return [Put(timer, {"dueAt": at}) if at else Delete(timer)]

        # Read in a transaction, so that a late trigger does not delete the timer of a newer state.
        self.documents.transact(f"events/{event_id}", writes)

    def sweep(self) -> None:
        """Remove guest data from every event past its retention period, oldest deadline first.

        Raises:
            TimeUpError: Half a minute was not enough. The next sweep continues, with other events
                first.
        """
        until = self.clock.monotonic() + _FORGETTING_SECONDS
        timers = Query(
            collection="guestData",
            group=True,
            where=[("dueAt", "<=", self.clock.now())],
            order=["dueAt"],
            limit=_TIMERS_READ,
        )
        own = (
            timer
            for timer in self.documents.find_all(timers)
            if timer.path == _timer(timer.path.split("/")[1])
        )
        for timer in itertools.islice(own, _EVENTS):
            event_id = timer.path.split("/")[1]
            at = due_at(self.documents.get(f"events/{event_id}"))
            if at is None or at > self.clock.now():
                self.schedule(event_id)
                continue
            forgotten = self._forget(event_id, timer.fields.get("after"), until)
            with suppress(ChangedMeanwhileError):  # the event was archived again
                self.documents.commit(Delete(timer.path, timer.version))
            log.info("event.guests-forgotten", eventId=event_id, photos=forgotten)

    def _forget(self, event_id: str, after: str | None, until: float) -> int:
        """Remove guest data from photos with an ID greater than `after`.

        Returns:
            The number of changed photos.
        """
        photos = Query(
            collection=f"events/{event_id}/photos",
            select=["uploaderName", "uploaderEmail"],
            limit=self.page_size,
        )
        page = replace(photos, after=[f"{photos.collection}/{after}"]) if after else photos
        forgotten = 0
        while read := self.documents.find(page):
            with_guest = [photo for photo in read if any(photo.fields.values())]
            without_guest = [
                Update(photo.path, {"uploaderName": ""}, delete=["uploaderEmail"])
                for photo in with_guest
            ]
            results = self.documents.write_each(without_guest) if with_guest else []
            written = sum(not isinstance(result, Exception) for result in results)
            forgotten += written
            if written == len(with_guest):  # else the page is read again
                after = read[-1].id
                page = replace(photos, after=[read[-1].path])
            if self.clock.monotonic() > until:
                progress = {"dueAt": self.clock.now()} | ({"after": after} if after else {})
                self.documents.commit(Put(_timer(event_id), progress))
                raise TimeUpError
        return forgotten


def _timer(event_id: str) -> str:
    return f"events/{event_id}/guestData/timer"
