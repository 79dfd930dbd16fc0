"""What the webhooks read of an event in Firestore: settings, photos, milestones."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Documents
from functions.gcp.firestore import CALL_SECONDS, RETRY


class WallStore:
    """See `ports.Wall`."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client
        self._documents = Documents(client)

    def webhook_settings(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of `settings/webhooks`; None where there is no such document."""
        found = self._documents.get(f"events/{event_id}/settings/webhooks")
        return found.fields if found else None

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where there is none."""
        found = self._documents.get(f"events/{event_id}")
        return found.fields if found else None

    def count_photos(self, event_id: str, at_most: int | None = None) -> int:
        """How many photos the event has, whatever their status; counts to `at_most`.

        Each thousand of them costs as much as the read of a document.
        """
        photos: Any = self._photos(event_id)
        count = (photos.limit(at_most) if at_most else photos).count()
        return int(count.get(retry=RETRY, timeout=CALL_SECONDS)[0][0].value)

    def first_photo_by(self, event_id: str, uploader_email: str) -> str | None:
        """Id of the oldest photo with that `uploaderEmail`; None where no photo has one."""
        query = (
            self._photos(event_id)
            .where(filter=FieldFilter("uploaderEmail", "==", uploader_email))
            .order_by("createdAt")
            .limit(1)
            .select(["createdAt"])
        )
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        return str(found[0].id) if found else None

    def milestones(self, event_id: str, numbers: Iterable[int]) -> Mapping[int, str]:
        """Which of the milestones `numbers` are recorded, each with the photo that reached it."""
        milestones = self._event(event_id).collection("milestones")
        found = self._client.get_all(
            [milestones.document(str(n)) for n in numbers], retry=RETRY, timeout=CALL_SECONDS
        )
        return {int(one.id): str(one.get("photoId")) for one in found if one.exists}

    def _event(self, event_id: str) -> firestore.DocumentReference:
        return self._client.collection("events").document(event_id)

    def _photos(self, event_id: str) -> firestore.CollectionReference:
        photos: firestore.CollectionReference = self._event(event_id).collection("photos")
        return photos
