"""Which milestones of an event are due and unclaimed (spec 6.1, design 3)."""

from collections.abc import Callable, Sequence
from typing import Final

from functions.recent import Recent
from functions.wall.photo import Photo
from functions.webhooks.messages.milestone import MILESTONES, milestones_due
from functions.webhooks.ports import Wall

_REMEMBERED_SECONDS: Final = 60.0
_REMEMBERED: Final = 10_000


class Milestones:
    """Looks at how many photos an event has, and who was first past each milestone."""

    def __init__(self, wall: Wall, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self._wall = wall
        self._claimed: Recent[tuple[str, int], bool] = Recent(
            seconds=_REMEMBERED_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )

    def unclaimed(self, event_id: str, photo: Photo) -> Sequence[int]:
        """Milestones that the event has reached, and that no photo but this one is recorded for.

        One round trip, none where all were claimed a moment ago, and two at a milestone.
        """
        claimed = {number for number in MILESTONES if self._claimed.get((event_id, number))}
        if len(claimed) == len(MILESTONES):
            return []
        count = self._wall.count_photos(event_id, at_most=MILESTONES[-1])
        due = milestones_due(count, claimed)
        if not due:
            return []
        recorded = self._wall.milestones(event_id, due)
        # A record of this very photo tells that its trigger runs again and may have more to do.
        others = {number for number, photo_id in recorded.items() if photo_id != photo.id}
        for number in others:
            self._claimed.put((event_id, number), value=True)
        return [number for number in due if number not in others]
