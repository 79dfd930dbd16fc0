"""Store of the photos and milestones of events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from functions.firestore.model import TEXT_BYTES, Documents, Query, as_text
from functions.wall.wall_event import Photo


@dataclass(frozen=True, slots=True)
class PhotoStore:
    """Store of photos and milestones, read only. Every method is one call to Firestore."""

    documents: Documents

    def count_photos(
        self, event_id: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """Count the photos of the event with any status, up to `at_most`.

        If `until` is set, count only photos with `createdAt` at or before that time. A thousand
        photos cost as much as one read.
        """
        photos = Query(collection=f"events/{event_id}/photos", limit=at_most)
        if until:
            photos = replace(photos, where=[("createdAt", "<=", until)], order=["createdAt"])
        return self.documents.count(photos)

    def first_photo_by(self, event_id: str, photo: Photo) -> Photo | None:
        """Return the oldest photo of the guest who uploaded `photo`, or None if there is none.

        The guest is identified by `uploaderEmail`, or by `uploaderUid` if `photo` has no address.
        A text that is too long for Firestore's indexes matches no photo.
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
        """Return the recorded milestones among `numbers`, each with the photo that reached it."""
        paths = [f"events/{event_id}/milestones/{number}" for number in numbers]
        milestones = zip(numbers, self.documents.get_all(paths), strict=True)
        return {
            number: as_text(milestone.fields.get("photoId"))
            for number, milestone in milestones
            if milestone
        }
