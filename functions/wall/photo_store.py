"""Reads of the photos and milestones of an event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from functions.firestore.model import TEXT_BYTES, Documents, Query, text
from functions.wall.wall_event import Photo


@dataclass(frozen=True, slots=True)
class WallStore:
    """Reads the photos and milestones of an event; every method is one call."""

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
