"""Public copies of approved photos, which every signed-in user may read.

`events/{eventId}/wall/{photoId}` has no email address, no user ID and no moderation data.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from functions.firestore.model import (
    Delete,
    Document,
    Documents,
    Put,
    Write,
    as_status,
    as_text,
    as_time,
)
from functions.wall.wall_event import PhotoStatus

BRAKE_PATH: Final = "service/brake"
"""Path of a document. While it exists, guests can neither upload nor list photos, if the project's
security rules check it."""


def public_fields(photo: Document | None) -> Mapping[str, Any] | None:
    """Return the fields of the public copy, or None if the photo is not approved."""
    fields = photo.fields if photo else {}
    if photo is None or as_status(fields, PhotoStatus.PENDING) is not PhotoStatus.APPROVED:
        return None
    return {
        "url": as_text(fields.get("url")),
        "thumbUrl": as_text(fields.get("thumbUrl")),
        "uploaderName": as_text(fields.get("uploaderName")),
        "createdAt": as_time(fields.get("createdAt")) or photo.created,
        "featured": fields.get("featured") is True,
    }


def copy(documents: Documents, event_id: str, photo_id: str) -> None:
    """Update or delete the public copy of a photo to match the photo's current state.

    The transaction reads the photo again, because triggers run late, twice and out of order, and a
    photo that was hidden must not reappear.
    """
    copied = f"events/{event_id}/wall/{photo_id}"

    def writes(photo: Document | None) -> Sequence[Write]:
        fields = public_fields(photo)
        return [Put(copied, fields) if fields else Delete(copied)]

    documents.transact(f"events/{event_id}/photos/{photo_id}", writes)


def remove(documents: Documents, event_id: str, photo_id: str) -> None:
    """Delete the public copy, if there is one."""
    documents.commit(Delete(f"events/{event_id}/wall/{photo_id}"))
