"""Names and addresses of guests leave an event's photos some days after it was archived.

    archived ▸ a timer ▸ the sweep that finds it due ▸ photos, page by page ▸ no timer any more

The event as it is now decides, when the timer is written and when it is due: triggers may run late
and out of order. Each step can be repeated, and stopped anywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from functions import log
from functions.clock import Clock
from functions.wall.fields import time
from functions.wall.guest_data_store import FIELD, GuestPhotoStore
from functions.wall.time_up import TimeUpError
from functions.wall.wall_event import EventStatus

MOST_DAYS: Final = 3650

_LATEST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=MOST_DAYS)

_AT_MOST: Final = 30.0  # seconds of one sweep, which has other work as well


def due_at(event: Mapping[str, Any] | None) -> datetime | None:
    """When the guests of an event with these fields are forgotten; None: never."""
    fields = event or {}
    days, archived = fields.get(FIELD), time(fields.get("archivedAt"))
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
        until = self.clock.monotonic() + _AT_MOST
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
