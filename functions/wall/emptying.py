"""A deleted event leaves its tombstone and nothing else; its id is never given out again.

    tombstone ▸ delete the documents under the event, page by page ▸ once more ▸ mark it emptied

The event as it is now decides who may read the documents under it. No client can make an event
where a tombstone is (`firestore.rules`): another tenant's event would open the first's documents.

Each step can be repeated, and stopped anywhere: the sweep goes on until the tombstone is marked. A
function that was at work during the deletion may write another orphan; the sweep deletes it.
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
class Tombstone:
    """The record of a deleted event, as it was read."""

    event_id: str
    version: Version


class NotEmptyYetError(Exception):
    """Time was up; the next run goes on."""


class DeletedEvents(Protocol):
    """Tombstones and orphans of deleted events. Every method is one round trip."""

    def put_tombstone(self, event_id: str, at: datetime) -> None:
        """Write the event's tombstone, not marked as emptied."""

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """Mark it as emptied for good, unless the tombstone was written since."""

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """Some tombstones, not marked, of events deleted `before` that moment, oldest first."""

    def page(self, event_id: str) -> Sequence[str]:
        """Paths of documents under the event, at any depth; empty where none is left."""

    def delete(self, orphans: Sequence[str]) -> None:
        """Delete the documents at these paths."""


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
        self._deleted_events.put_tombstone(event_id, self._now())
        self._delete_all(event_id, self._monotonic() + _AT_MOST)

    def sweep(self) -> None:
        """Delete late orphans of every event that was deleted a while ago, and mark its tombstone.

        Raises:
            NotEmptyYetError: a minute was not enough; the next sweep goes on.
        """
        until = self._monotonic() + _AT_MOST
        for tombstone in self._deleted_events.deleted(self._now() - SETTLED):
            self._delete_all(tombstone.event_id, until)
            self._deleted_events.mark_emptied(tombstone, self._now())

    def _delete_all(self, event_id: str, until: float) -> None:
        deleted = 0
        while page := self._deleted_events.page(event_id):
            self._deleted_events.delete(page)
            deleted += len(page)
            if self._monotonic() > until:
                raise NotEmptyYetError
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)
