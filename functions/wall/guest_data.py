"""Names and addresses of guests leave an event's photos some days after it was archived.

    archived ▸ a timer ▸ the sweep that finds it due ▸ photos, page by page ▸ no timer any more

The event as it is now decides, when the timer is written and when it is due: triggers may run late
and out of order. Each step can be repeated, and stopped anywhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from functions import log
from functions.documents.document import Version
from functions.wall.emptying import NotEmptyYetError
from functions.wall.fields import time
from functions.wall.wall_event import EventStatus

FIELD: Final = "keepGuestDataDays"
"""Of the event."""
MOST_DAYS: Final = 3650

_AT_MOST: Final = 30.0  # seconds of one sweep, which has other work as well


@dataclass(frozen=True, slots=True)
class GuestPhoto:
    """A photo as it was read, and whether it tells of its guest."""

    id: str
    version: Version
    tells: bool


class GuestPhotos(Protocol):
    """Events, their timers and their photos. Every method is one round trip."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where it is not there."""

    def set_timer(self, event_id: str, at: datetime | None) -> None:
        """Write the event's timer; None deletes it."""

    def due(self, now: datetime) -> Iterable[str]:
        """Ids of events whose timer is due, the oldest first, some."""

    def page(self, event_id: str, after: str | None) -> Sequence[GuestPhoto]:
        """Photos by id, from the one behind `after` on; none at the end."""

    def forget(self, event_id: str, photos: Sequence[GuestPhoto]) -> int:
        """Take name and address out of photos that are in their versions; out of how many."""


def due_at(event: Mapping[str, Any] | None) -> datetime | None:
    """When the guests of an event with these fields are forgotten; None: never."""
    fields = event or {}
    days, archived = fields.get(FIELD), time(fields.get("archivedAt"))
    if fields.get("status") != EventStatus.ARCHIVED or archived is None:
        return None
    if type(days) is not int or not 0 < days <= MOST_DAYS:
        return None
    return archived + timedelta(days=days)


class Forgetting:
    """Forgets the guests of archived events in time."""

    def __init__(
        self,
        *,
        photos: GuestPhotos,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together; `now` is in UTC, `monotonic` gives seconds that only grow."""
        self._photos = photos
        self._now = now
        self._monotonic = monotonic

    def schedule(self, event_id: str) -> None:
        """Write or delete the timer of an event that has changed."""
        self._photos.set_timer(event_id, due_at(self._photos.event(event_id)))

    def sweep(self) -> None:
        """Forget the guests of every event whose time has come.

        Raises:
            NotEmptyYetError: half a minute was not enough; the next sweep goes on.
        """
        until = self._monotonic() + _AT_MOST
        for event_id in self._photos.due(self._now()):
            at = due_at(self._photos.event(event_id))
            if at is None or at > self._now():
                self._photos.set_timer(event_id, at)
                continue
            forgotten = self._forget(event_id, until)
            self._photos.set_timer(event_id, None)
            log.info("event.guests-forgotten", eventId=event_id, photos=forgotten)

    def _forget(self, event_id: str, until: float) -> int:
        """Walk through the photos until no photo tells of its guest; how many did."""
        forgotten = 0
        while True:
            telling, taken = self._walk(event_id, until)
            forgotten += taken
            if telling == taken:
                return forgotten

    def _walk(self, event_id: str, until: float) -> tuple[int, int]:
        """How many photos told of their guests, and out of how many that was taken."""
        telling = taken = 0
        after: str | None = None
        while page := self._photos.page(event_id, after):
            if photos := [photo for photo in page if photo.tells]:
                telling += len(photos)
                taken += self._photos.forget(event_id, photos)
            after = page[-1].id
            if self._monotonic() > until:
                raise NotEmptyYetError
        return telling, taken
