"""A deleted event leaves nothing behind, so that the next one of its id inherits nothing.

    tombstone ▸ delete the documents under the event, page by page ▸ mark it emptied ▸ once more

The event as it is now decides who may read the documents under it: an event that another tenant
makes with the same id would open the first tenant's documents. Until the tombstone is marked, no
client can make an event of its id (`firestore.rules`).

Each step can be repeated, and stopped anywhere: the tombstone stays until every orphan is deleted.
A function that was at work during the deletion may write another orphan; the sweep deletes it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from functions import log
from functions.documents.document import Version

SETTLED: Final = timedelta(minutes=15)
"""After that time no function is at work any more that began before the deletion."""

_AT_MOST: Final = 60.0  # seconds: half of the trigger's time, for the calls that are under way then


@dataclass(frozen=True, slots=True)
class Orphan:
    """A document under an event, when it was made, and its version when it was read."""

    path: str
    created: datetime
    version: Version


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The record of a deleted event, as it was read or written."""

    event_id: str
    version: Version


class NotEmptyYetError(Exception):
    """Time was up; the next run goes on."""


class DeletedEvents(Protocol):
    """Tombstones and orphans of deleted events. Every method is one round trip."""

    def put_tombstone(self, event_id: str, at: datetime) -> Tombstone:
        """Write the event's tombstone, not marked as emptied."""

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """Mark it as emptied, unless the tombstone was written since: then another run marks it."""

    def forget(self, tombstone: Tombstone) -> None:
        """Delete the tombstone, unless it was written since."""

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """Some tombstones of events that were deleted `before` that moment, oldest first."""

    def page(self, event_id: str, after: str | None) -> Sequence[Orphan]:
        """Documents under the event at any depth, by path, after `after`; empty at the end."""

    def created(self, event_id: str) -> datetime | None:
        """When the present event of that id was made, or None."""

    def delete(self, orphans: Sequence[Orphan]) -> None:
        """Delete the orphans that are still in their versions."""


class OrphanCleanup:
    """Deletes the orphans of deleted events."""

    def __init__(
        self,
        *,
        deleted_events: DeletedEvents,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together.

        Args:
            deleted_events: Their tombstones and orphans.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
        """
        self._deleted_events = deleted_events
        self._now = now
        self._monotonic = monotonic

    def empty(self, event_id: str) -> None:
        """Delete the documents under an event that was deleted.

        Raises:
            NotEmptyYetError: a minute was not enough; run it again.
        """
        tombstone = self._deleted_events.put_tombstone(event_id, self._now())
        self._delete_all(event_id, self._monotonic() + _AT_MOST)
        self._deleted_events.mark_emptied(tombstone, self._now())

    def sweep(self) -> None:
        """Delete late orphans of every event that was deleted a while ago, and its tombstone.

        Raises:
            NotEmptyYetError: a minute was not enough; the next sweep goes on.
        """
        until = self._monotonic() + _AT_MOST
        for tombstone in self._deleted_events.deleted(self._now() - SETTLED):
            self._delete_all(tombstone.event_id, until)
            self._deleted_events.forget(tombstone)

    def _delete_all(self, event_id: str, until: float) -> None:
        deleted = 0
        while found := self._delete_once(event_id, until):
            deleted += found
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)

    def _delete_once(self, event_id: str, until: float) -> int:
        """Walk through all documents once; the number of orphans that were deleted."""
        deleted = 0
        after: str | None = None
        while page := self._deleted_events.page(event_id, after):
            # Read after the page: a document that is older than the present event of that id
            # belonged to the deleted one.
            recreated = self._deleted_events.created(event_id)
            orphans = [found for found in page if recreated is None or found.created < recreated]
            if orphans:
                self._deleted_events.delete(orphans)
                deleted += len(orphans)
            after = page[-1].path
            if self._monotonic() > until:
                raise NotEmptyYetError
        return deleted
