"""The public wall in Firestore: `events/{eventId}/wall/{photoId}`."""

from typing import Any

from google.cloud import firestore

from functions.app_names import DATA_MODEL, AppNames
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.wall.public_photo import public_fields


class PublicWall:
    """Copies of approved photos."""

    def __init__(self, client: firestore.Client, names: AppNames = DATA_MODEL) -> None:
        self._client = client
        self._names = names

    def copy(self, event_id: str, photo_id: str) -> None:
        """Bring the copy up to what the photo is now.

        In one transaction, not from the write that a trigger was told of: triggers run late, twice
        and out of order, and a photo that was taken down must not come back.
        """
        photo = self._client.document(self._names.photo_path(event_id, photo_id))
        copied = self._client.document("events", event_id, "wall", photo_id)
        read = self._names.photo.read

        @firestore.transactional
        def commit(transaction: firestore.Transaction) -> None:
            found: Any = photo.get(transaction=transaction, retry=RETRY, timeout=CALL_SECONDS)
            fields = read(found.to_dict()) if found.exists else {}
            public = public_fields(fields, found.create_time)
            if public:
                transaction.set(copied, dict(public))
            else:
                transaction.delete(copied)

        commit(self._client.transaction())
