"""Milestones of an event: which ones it has reached, and by which photo (design 3.11)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from functions.cache import Recent
from functions.ports import Clock
from functions.wall.photo_store import WallStore
from functions.wall.wall_event import Photo
from functions.webhooks.events import MILESTONES, Milestone

PASSED_BEFORE: Final = timedelta(minutes=10)
"""A milestone that was passed this long before the URLs last changed makes no message."""

_REMEMBERED_SECONDS: Final = 60.0
"""How long a process remembers which photo a milestone is recorded for."""


class Milestones:
    """Looks at how many photos an event has, and who was first past each milestone."""

    def __init__(self, wall: WallStore, clock: Clock) -> None:
        self._wall = wall
        self._claimed: Recent[tuple[str, int], str] = Recent(clock, seconds=_REMEMBERED_SECONDS)

    def unclaimed(
        self, event_id: str, photo: Photo, urls_changed_at: datetime
    ) -> Sequence[Milestone]:
        """Milestones that the event has reached and that no other photo is recorded for.

        `photo` has reached them, but for milestones that the event had passed before. One round
        trip, or none if other photos claimed all a moment ago; two at a milestone, and a third if
        the milestone is not recorded.
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
        # A record for this photo means that its trigger runs again and may have more to do.
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
        """How many photos the event had shortly before its URLs last changed.

        0 for a back-dated photo (an import), because photos are counted by `createdAt`.
        """
        if photo.updated_at - photo.created_at > PASSED_BEFORE:
            return 0
        until = urls_changed_at - PASSED_BEFORE
        return self._wall.count_photos(event_id, at_most=at_most, until=until)
