"""What the webhooks read of an event in Firestore: settings, photos, milestones."""

from collections.abc import Iterable, Mapping
from typing import Any

from functions.gcp.documents import Documents


class WallStore:
    """See `ports.Wall`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def webhook_settings(self, event_id: str) -> Mapping[str, Any] | None:
        """See `ports.Wall`."""
        found = self._documents.get(f"events/{event_id}/settings/webhooks")
        return found.fields if found else None

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `ports.Wall`."""
        found = self._documents.get(f"events/{event_id}")
        return found.fields if found else None

    def count_photos(self, event_id: str, at_most: int | None = None) -> int:
        """See `ports.Wall`; each thousand of them costs as much as the read of a document."""
        return self._documents.count(f"events/{event_id}/photos", at_most)

    def first_photo_by(self, event_id: str, uploader_email: str) -> str | None:
        """See `ports.Wall`."""
        photos = f"events/{event_id}/photos"
        return self._documents.first(photos, "uploaderEmail", uploader_email, by="createdAt")

    def milestones(self, event_id: str, numbers: Iterable[int]) -> Mapping[int, str]:
        """See `ports.Wall`."""
        asked = list(numbers)
        paths = [f"events/{event_id}/milestones/{number}" for number in asked]
        found = zip(asked, self._documents.get_all(paths), strict=True)
        return {number: str(one.fields.get("photoId")) for number, one in found if one}
