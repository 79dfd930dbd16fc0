"""Milestones that an event has reached, and the photos that reached them (design 3.11)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from functions.cache import TtlCache
from functions.ports import Clock
from functions.wall.photo_store import PhotoStore
from functions.wall.wall_event import Photo
from functions.webhooks.events import MILESTONES, Milestone

PASSED_BEFORE: Final = timedelta(minutes=10)
"""No message is sent for a milestone that was passed that long before the URLs last changed."""

_REMEMBERED_SECONDS: Final = 60.0
"""How long a process remembers the photo of a recorded milestone."""


class Milestones:
    """Finds the milestones that an event has reached and that are not recorded yet."""

    def __init__(self, wall: PhotoStore, clock: Clock) -> None:
        self._wall = wall
        self._claimed: TtlCache[tuple[str, int], str] = TtlCache(clock, seconds=_REMEMBERED_SECONDS)

    def unclaimed(
        self, event_id: str, photo: Photo, urls_changed_at: datetime
    ) -> Sequence[Milestone]:
        """Return the milestones that the event has reached and that no other photo has claimed.

        A milestone that the event passed before its URLs last changed has no `photo_id`. `photo`
        reached all others. The call costs one round trip, or none if this process knows that other
        photos claimed all milestones. At a milestone it costs two, and a third if the milestone is
        not recorded.
        """
        claimed = {number: self._claimed.get((event_id, number)) for number in MILESTONES}
        ahead = [number for number in MILESTONES if claimed[number] in (None, photo.id)]
        if not ahead:
            return []
        count = self._wall.count_photos(event_id, at_most=MILESTONES[-1])
        due = [number for number in ahead if number <= count]
        if not due:
            return []
        recorded = self._wall.milestones(event_id, due)
        # If the record names this photo, its trigger runs again and may have to finish its work.
        others = {number for number, photo_id in recorded.items() if photo_id != photo.id}
        for number in others:
            self._claimed.put((event_id, number), value=recorded[number] or "")
        new = [number for number in due if number not in recorded]
        passed = self._passed(event_id, photo, new[-1], urls_changed_at) if new else 0
        return [
            Milestone(number=number)
            if number in new and number <= passed
            else Milestone(number=number, photo_id=photo.id, reached_at=photo.updated_at)
            for number in due
            if number not in others
        ]

    def _passed(self, event_id: str, photo: Photo, at_most: int, urls_changed_at: datetime) -> int:
        """Count the event's photos shortly before its URLs last changed.

        Return 0 for a backdated photo (an import), because photos are counted by `createdAt`.
        """
        if photo.updated_at - photo.created_at > PASSED_BEFORE:
            return 0
        until = urls_changed_at - PASSED_BEFORE
        return self._wall.count_photos(event_id, at_most=at_most, until=until)
