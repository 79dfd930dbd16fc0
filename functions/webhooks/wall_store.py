"""What the webhooks read of an event in Firestore: its fields, photos and milestones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from functions.firestore.model import TEXT_BYTES, Documents, Query, text
from functions.outside import Clock, Recent
from functions.wall.wall_event import Photo
from functions.webhooks.message import MILESTONES, Milestone


@dataclass(frozen=True, slots=True)
class WallStore:
    """Reads an event and its photos; every method is one call."""

    documents: Documents

    def count_photos(
        self, event_id: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """How many photos the event has, whichever their status; counts to `at_most`.

        With `until`: only photos whose `createdAt` is no later. A thousand of them cost as much
        as the read of a document.
        """
        photos = Query(collection=f"events/{event_id}/photos", limit=at_most)
        if until:
            photos = replace(photos, where=[("createdAt", "<=", until)], order=["createdAt"])
        return self.documents.count(photos)

    def first_photo_by(self, event_id: str, photo: Photo) -> Photo | None:
        """The oldest photo with the `uploaderEmail` of `photo`, or its `uploaderUid`.

        By `uploaderUid` where `photo` has no address; None where no photo is found, as by a text
        that Firestore does not index as a whole.
        """
        field, value = (
            ("uploaderEmail", photo.uploader_email)
            if photo.guest
            else ("uploaderUid", photo.uploader_uid)
        )
        if len((value or "").encode()) > TEXT_BYTES:
            return None
        photos = Query(
            collection=f"events/{event_id}/photos",
            where=[(field, "==", value or "")],
            order=["createdAt"],
            limit=1,
        )
        for first in self.documents.find(photos):
            return Photo.read(first.id, first.fields, created=first.created, updated=first.written)
        return None

    def milestones(self, event_id: str, numbers: Sequence[int]) -> Mapping[int, str | None]:
        """Which of the milestones `numbers` are recorded, each with the photo that reached it."""
        paths = [f"events/{event_id}/milestones/{number}" for number in numbers]
        milestones = zip(numbers, self.documents.get_all(paths), strict=True)
        return {
            number: text(milestone.fields.get("photoId"))
            for number, milestone in milestones
            if milestone
        }


PASSED_BEFORE: Final = timedelta(minutes=10)
"""A milestone that was passed this long before the URLs last changed makes no message."""

_REMEMBERED_SECONDS: Final = 60.0
"""How long a process remembers that a milestone is recorded for another photo."""


class Milestones:
    """Looks at how many photos an event has, and who was first past each milestone."""

    def __init__(self, wall: WallStore, clock: Clock) -> None:
        self._wall = wall
        self._claimed: Recent[tuple[str, int], bool] = Recent(clock, seconds=_REMEMBERED_SECONDS)

    def unclaimed(
        self, event_id: str, photo: Photo, urls_changed_at: datetime
    ) -> Sequence[Milestone]:
        """Milestones that the event has reached and that no other photo is recorded for.

        `photo` has reached them, but for milestones that the event had passed before. One round
        trip, or none if all were claimed a moment ago; two at a milestone, and a third if the
        milestone is not recorded.
        """
        ahead = [number for number in MILESTONES if not self._claimed.get((event_id, number))]
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
            self._claimed.put((event_id, number), value=True)
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
