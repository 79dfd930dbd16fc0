"""Which milestones of an event are due and unclaimed (spec 6.1, design 3.11)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from functions.recent import Recent
from functions.wall.photo import Photo
from functions.webhooks.messages.milestone import MILESTONES, milestones_due
from functions.webhooks.store import WallStore

BEHIND_BEFORE: Final = timedelta(minutes=10)
"""A milestone that was passed this long before the URLs last changed makes no message."""

_REMEMBERED_SECONDS: Final = 60.0
_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Milestones that no other photo has: `crossed` now, or `behind` without a message."""

    crossed: Sequence[int] = ()
    behind: Sequence[int] = ()


class Milestones:
    """Looks at how many photos an event has, and who was first past each milestone."""

    def __init__(self, wall: WallStore, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self._wall = wall
        self._claimed: Recent[tuple[str, int], bool] = Recent(
            seconds=_REMEMBERED_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )

    def unclaimed(self, event_id: str, photo: Photo, urls_changed_at: datetime) -> Unclaimed:
        """Milestones that the event has reached and that no other photo is recorded for.

        One round trip, or none if all were claimed a moment ago; two at a milestone, and a third if
        the milestone is not recorded.
        """
        claimed = {number for number in MILESTONES if self._claimed.get((event_id, number))}
        if len(claimed) == len(MILESTONES):
            return Unclaimed()
        count = self._wall.count_photos(event_id, at_most=MILESTONES[-1])
        due = milestones_due(count, claimed)
        if not due:
            return Unclaimed()
        recorded = self._wall.milestones(event_id, due)
        # A record for this photo means that its trigger runs again and may have more to do.
        others = {number for number, photo_id in recorded.items() if photo_id != photo.id}
        for number in others:
            self._claimed.put((event_id, number), value=True)
        new = [number for number in due if number not in recorded]
        # A photo dated earlier than its own write is a script's, and so may others be that are
        # counted by `createdAt`: the milestone is reached now.
        is_dated_back = photo.updated_at - photo.created_at > BEHIND_BEFORE
        passed = 0
        if new and not is_dated_back:
            passed = self._passed(event_id, new[-1], urls_changed_at)
        behind = [number for number in new if number <= passed]
        return Unclaimed(
            [number for number in due if number not in others and number not in behind], behind
        )

    def _passed(self, event_id: str, at_most: int, urls_changed_at: datetime) -> int:
        """How many photos the event had shortly before its URLs last changed."""
        until = urls_changed_at - BEHIND_BEFORE
        return self._wall.count_photos(event_id, at_most=at_most, until=until)
