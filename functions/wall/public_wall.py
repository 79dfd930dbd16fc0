"""The public wall in Firestore: `events/{eventId}/wall/{photoId}`."""

from typing import Any

from google.cloud import firestore

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.wall.public_photo import public_fields


class PublicWall:
    """Copies of approved photos."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def copy(self, event_id: str, photo_id: str) -> None:
        """Bring the copy up to what the photo is now.

        In one transaction, not from the write that a trigger was told of: triggers run late, twice
        and out of order, and a photo that was taken down must not come back.
        """
        event = self._client.collection("events").document(event_id)
        photo = event.collection("photos").document(photo_id)
        copied = event.collection("wall").document(photo_id)

        @firestore.transactional
        def commit(transaction: firestore.Transaction) -> None:
            found: Any = photo.get(transaction=transaction, retry=RETRY, timeout=CALL_SECONDS)
            fields = public_fields(found.to_dict(), found.create_time) if found.exists else None
            if fields:
                transaction.set(copied, dict(fields))
            else:
                transaction.delete(copied)

        commit(self._client.transaction())
