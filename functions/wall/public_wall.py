"""The public wall in Firestore: `events/{eventId}/wall/{photoId}`."""

from collections.abc import Sequence

from functions.firestore.model import Delete, Document, Documents, Put, Write
from functions.wall.public_photo import public_fields


def copy(documents: Documents, event_id: str, photo_id: str) -> None:
    """Bring the copy of an approved photo up to what the photo is now.

    In one transaction, not from the write of the trigger's event: triggers run late, twice and out
    of order, and a photo that was taken down must not come back.
    """
    copied = f"events/{event_id}/wall/{photo_id}"

    def writes(photo: Document | None) -> Sequence[Write]:
        fields = public_fields(photo)
        return [Put(copied, fields) if fields else Delete(copied)]

    documents.transact(f"events/{event_id}/photos/{photo_id}", writes)


def remove(documents: Documents, event_id: str, photo_id: str) -> None:
    """Delete the copy, if there is one."""
    documents.commit(Delete(f"events/{event_id}/wall/{photo_id}"))
