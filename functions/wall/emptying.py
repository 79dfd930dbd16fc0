"""A deleted event leaves nothing behind, so that the next one of its id inherits nothing.

    tombstone ▸ delete what is under the event, page by page ▸ note that it is done ▸ once more

Whoever may read what is under an event follows from the event as it is now; were it made anew by
another tenant, that tenant would read what the first one has left. While a tombstone is not done,
no client can make an event of its id (`firestore.rules`).

Each step can be repeated, and stopped anywhere: what is gone is gone, and the tombstone stays until
the rest is. Functions that were at work when the event was deleted may write a record afterwards;
the sweep deletes that too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeAlias

from functions import log

Version: TypeAlias = Any
"""Of a document, as it was read or written."""

SETTLED: Final = timedelta(minutes=15)
"""After a deletion, when no function is at work any more that began before it."""

_AT_MOST: Final = 60.0  # seconds: half of the trigger's time, for the calls that are under way then


@dataclass(frozen=True, slots=True)
class Leftover:
    """A document under an event, as it was read: when it was made, and its version."""

    path: str
    created: datetime
    version: Version


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Of a deleted event, as it was read or written."""

    event_id: str
    version: Version


class NotEmptyYetError(Exception):
    """Time was up; what is left is for the next run."""


class Remains(Protocol):
    """Deleted events and what is under them. Every method is one round trip."""

    def bury(self, event_id: str, at: datetime) -> Tombstone:
        """Write the event's tombstone: nothing of it is known to be empty."""

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """Note that nothing is left, unless the tombstone was written since: another run's task."""

    def forget(self, tombstone: Tombstone) -> None:
        """Delete the tombstone, unless it was written since."""

    def buried(self, before: datetime) -> Iterable[Tombstone]:
        """Tombstones of events that were deleted `before` that moment, oldest first, some."""

    def page(self, event_id: str, after: str | None) -> Sequence[Leftover]:
        """What is under the event at any depth, by path, from `after` on; none at the end."""

    def created(self, event_id: str) -> datetime | None:
        """When the event that stands there now was made; None where there is none."""

    def delete(self, leftovers: Sequence[Leftover]) -> None:
        """Delete those that are still in their versions."""


class Emptying:
    """Empties deleted events."""

    def __init__(
        self,
        *,
        remains: Remains,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together.

        Args:
            remains: Deleted events.
            now: The time, aware and in UTC.
            monotonic: Seconds that only grow.
        """
        self._remains = remains
        self._now = now
        self._monotonic = monotonic

    def empty(self, event_id: str) -> None:
        """Delete what is under an event that was deleted.

        Raises:
            NotEmptyYetError: a minute was not enough; run it again.
        """
        tombstone = self._remains.bury(event_id, self._now())
        self._delete_all(event_id, self._monotonic() + _AT_MOST)
        self._remains.mark_emptied(tombstone, self._now())

    def sweep(self) -> None:
        """Look once more under every event that was deleted a while ago, and forget it.

        Raises:
            NotEmptyYetError: a minute was not enough; the next sweep goes on.
        """
        until = self._monotonic() + _AT_MOST
        for tombstone in self._remains.buried(self._now() - SETTLED):
            self._delete_all(tombstone.event_id, until)
            self._remains.forget(tombstone)

    def _delete_all(self, event_id: str, until: float) -> None:
        deleted = 0
        while found := self._delete_once(event_id, until):
            deleted += found
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)

    def _delete_once(self, event_id: str, until: float) -> int:
        """How many documents one walk through all of them has found and deleted."""
        deleted = 0
        after: str | None = None
        while page := self._remains.page(event_id, after):
            # Asked after the page was read: what is on it and older than the event that stands
            # there now belonged to an earlier one.
            heir = self._remains.created(event_id)
            leftovers = [one for one in page if heir is None or one.created < heir]
            if leftovers:
                self._remains.delete(leftovers)
                deleted += len(leftovers)
            after = page[-1].path
            if self._monotonic() > until:
                raise NotEmptyYetError
        return deleted
