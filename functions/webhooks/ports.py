"""The wall as the use cases of the webhooks read it; `wiring` names the adapter.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from functions.wall.photo import Photo


class Wall(Protocol):
    """Reads of an event and its photos."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event, or None."""

    def count_photos(
        self, event_id: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """How many photos the event has, whichever their status; counts to `at_most`.

        With `until`: only photos whose `createdAt` is no later.
        """

    def first_photo_by(self, event_id: str, photo: Photo) -> Photo | None:
        """The oldest photo with the `uploaderEmail` of `photo`, or its `uploaderUid`.

        By `uploaderUid` where `photo` has no address; None where no photo is found.
        """

    def milestones(self, event_id: str, numbers: Iterable[int]) -> Mapping[int, str | None]:
        """Which of the milestones `numbers` are recorded, each with the photo that reached it."""
