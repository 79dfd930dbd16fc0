"""What is deleted in time: the documents under deleted events, and guests of archived ones.

    tombstone ▸ delete the documents under the event, page by page ▸ once more ▸ mark it emptied
    archived ▸ a timer ▸ the sweep that finds it due ▸ photos, page by page ▸ no timer any more

A deleted event leaves its tombstone and nothing else; its id is never given out again. The event as
it is now decides who may read the documents under it. No client can make an event where a tombstone
is (`firestore.rules`): another tenant's event would open the first's documents.

Names and addresses of guests leave an event's photos some days after it was archived. The event as
it is now decides, when the timer is written and when it is due: triggers may run late and out of
order.

Each step can be repeated, and stopped anywhere: the sweep goes on. A function that was at work
during a deletion may write another orphan; the sweep deletes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

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
    time,
)
from functions.outside import Clock
from functions.wall.wall_event import EventStatus


class TimeUpError(Exception):
    """Time was up; the next run goes on."""


_TOMBSTONES: Final = 100  # of one sweep


@dataclass(frozen=True, slots=True)
class DeletedEventStore:
    """Tombstones and orphans of deleted events; every method is one call."""

    documents: Documents
    page_size: int = 500
    """The most writes that one BatchWrite takes."""

    def put_tombstone(self, event_id: str, at: datetime) -> None:
        """Write the event's tombstone, not marked as emptied."""
        self.documents.commit(Put(_tombstone(event_id), {"deletedAt": at}))

    def mark_emptied(self, tombstone: Document, at: datetime) -> None:
        """Mark it as emptied for good, unless it was written since: no `deletedAt` is left."""
        marked = Update(
            tombstone.path, {"emptiedAt": at}, delete=["deletedAt"], version=tombstone.version
        )
        with suppress(ChangedMeanwhileError):  # the trigger has run again: the next sweep marks it
            self.documents.commit(marked)

    def deleted(self, before: datetime) -> Iterable[Document]:
        """Some tombstones, not marked, of events deleted `before` that moment, oldest first."""
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", before)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        return self.documents.find(tombstones)

    def page(self, event_id: str) -> Sequence[str]:
        """Paths of documents under the event, at any depth; empty where none is left."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # also a collection whose parent is gone
            select=[NAME],
            limit=self.page_size,
        )
        return [found.path for found in self.documents.find(orphans)]

    def delete(self, orphans: Sequence[str]) -> None:
        """Delete the documents at these paths."""
        self.documents.write_each([Delete(path) for path in orphans])


def _tombstone(event_id: str) -> str:
    return f"deletedEvents/{event_id}"


SETTLED: Final = timedelta(minutes=15)
"""After that time no function is at work any more that began before the deletion."""

_EMPTYING_SECONDS: Final = (
    60.0  # seconds: half of the trigger's time, for the calls that are under way then
)


@dataclass(frozen=True, slots=True)
class OrphanCleanup:
    """Deletes the orphans of deleted events."""

    deleted_events: DeletedEventStore
    clock: Clock

    def empty(self, event_id: str) -> None:
        """Delete the documents under an event that was deleted.

        Raises:
            TimeUpError: a minute was not enough; run it again.
        """
        self.deleted_events.put_tombstone(event_id, self.clock.now())
        self._delete_all(event_id, self.clock.monotonic() + _EMPTYING_SECONDS)

    def sweep(self) -> None:
        """Delete late orphans of every event that was deleted a while ago, and mark its tombstone.

        Raises:
            TimeUpError: a minute was not enough; the next sweep goes on.
        """
        until = self.clock.monotonic() + _EMPTYING_SECONDS
        for tombstone in self.deleted_events.deleted(self.clock.now() - SETTLED):
            self._delete_all(tombstone.id, until)
            self.deleted_events.mark_emptied(tombstone, self.clock.now())

    def _delete_all(self, event_id: str, until: float) -> None:
        deleted = 0
        while page := self.deleted_events.page(event_id):
            self.deleted_events.delete(page)
            deleted += len(page)
            if self.clock.monotonic() > until:
                raise TimeUpError
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)


KEEP_DAYS: Final = "keepGuestDataDays"
"""Of the event."""
_EVENTS: Final = 20  # of one sweep


@dataclass(frozen=True, slots=True)
class GuestPhotoStore:
    """Events, their timers and their photos; every method is one call."""

    documents: Documents
    page_size: int = 500
    """The most writes that one BatchWrite takes."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where it is not there."""
        found = self.documents.get(f"events/{event_id}", ["status", "archivedAt", KEEP_DAYS])
        return found.fields if found else None

    def set_timer(self, event_id: str, at: datetime | None, after: str | None = None) -> None:
        """Write the event's timer, and the last photo that a sweep has seen; None deletes it."""
        timer = _timer(event_id)
        place = {"after": after} if after else {}
        self.documents.commit(Put(timer, {"dueAt": at} | place) if at else Delete(timer))

    def due(self, now: datetime) -> Iterable[tuple[str, str | None]]:
        """Events whose timer is due, and the last photo that a sweep has seen; oldest first."""
        timers = Query(
            collection="guestData",
            group=True,
            where=[("dueAt", "<=", now)],
            order=["dueAt"],
            limit=_EVENTS,
        )
        found = [(timer, timer.path.split("/")[1]) for timer in self.documents.find(timers)]
        return [
            (event_id, timer.fields.get("after"))
            for timer, event_id in found
            if timer.path == _timer(event_id)
        ]

    def page(self, event_id: str, after: str | None) -> Sequence[Document]:
        """Photos by id, behind `after`, with what they tell of guests; none at the end."""
        page = Query(
            collection=f"events/{event_id}/photos",
            select=["uploaderName", "uploaderEmail"],
            limit=self.page_size,
            after=[f"events/{event_id}/photos/{after}"] if after else [],
        )
        return self.documents.find(page)

    def forget(self, photos: Sequence[Document]) -> int:
        """Take name and address out of photos that are still there; out of how many."""
        results = self.documents.write_each(
            [Update(photo.path, {"uploaderName": ""}, delete=["uploaderEmail"]) for photo in photos]
        )
        return sum(not isinstance(result, Exception) for result in results)


def _timer(event_id: str) -> str:
    return f"events/{event_id}/guestData/timer"


MOST_DAYS: Final = 3650

_LATEST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=MOST_DAYS)

_FORGETTING_SECONDS: Final = 30.0  # seconds of one sweep, which has other work as well


def due_at(event: Mapping[str, Any] | None) -> datetime | None:
    """When the guests of an event with these fields are forgotten; None: never."""
    fields = event or {}
    days, archived = fields.get(KEEP_DAYS), time(fields.get("archivedAt"))
    if fields.get("status") != EventStatus.ARCHIVED or archived is None:
        return None
    if type(days) is not int or not 0 < days <= MOST_DAYS:
        return None
    return min(archived, _LATEST) + timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Forgets the guests of archived events in time."""

    photos: GuestPhotoStore
    clock: Clock

    def schedule(self, event_id: str) -> None:
        """Write or delete the timer of an event that has changed."""
        self.photos.set_timer(event_id, due_at(self.photos.event(event_id)))

    def sweep(self) -> None:
        """Forget the guests of every event whose time has come.

        Raises:
            TimeUpError: half a minute was not enough; the next sweep goes on, with other events
                first.
        """
        until = self.clock.monotonic() + _FORGETTING_SECONDS
        for event_id, after in self.photos.due(self.clock.now()):
            at = due_at(self.photos.event(event_id))
            if at is None or at > self.clock.now():
                self.photos.set_timer(event_id, at)
                continue
            forgotten = self._forget(event_id, after, until)
            self.photos.set_timer(event_id, None)
            log.info("event.guests-forgotten", eventId=event_id, photos=forgotten)

    def _forget(self, event_id: str, after: str | None, until: float) -> int:
        """Walk through the photos behind `after`; how many told of their guests."""
        forgotten = 0
        while page := self.photos.page(event_id, after):
            telling = [photo for photo in page if any(photo.fields.values())]
            taken = self.photos.forget(telling) if telling else 0
            forgotten += taken
            if taken == len(telling):  # else the page is read again
                after = page[-1].id
            if self.clock.monotonic() > until:
                self.photos.set_timer(event_id, self.clock.now(), after)
                raise TimeUpError
        return forgotten
