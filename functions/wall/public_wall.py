"""The public wall in Firestore: what of a photo anybody who is signed in may see.

`events/{eventId}/wall/{photoId}` has no address, no uid, and no word of moderation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from functions.firestore.model import Delete, Document, Documents, Put, Write, status, text, time
from functions.wall.wall_event import PhotoStatus

BRAKE: Final = "service/brake"
"""The document that the rules of a project with a brake look at: while it is there, guests neither
upload nor list photos."""


def public_fields(photo: Document | None) -> Mapping[str, Any] | None:
    """Fields of `events/{eventId}/wall/{photoId}`; None without an approved photo."""
    fields = photo.fields if photo else {}
    if photo is None or status(fields, PhotoStatus.PENDING) is not PhotoStatus.APPROVED:
        return None
    return {
        "url": text(fields.get("url")),
        "thumbUrl": text(fields.get("thumbUrl")),
        "uploaderName": text(fields.get("uploaderName")),
        "createdAt": time(fields.get("createdAt")) or photo.created,
        "featured": fields.get("featured") is True,
    }


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
