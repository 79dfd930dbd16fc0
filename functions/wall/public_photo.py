"""What of a photo anybody who is signed in may see: no address, no uid, no word of moderation."""

from collections.abc import Mapping
from typing import Any

from functions.firestore.model import Document
from functions.wall.fields import status, text, time
from functions.wall.photo import PhotoStatus


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
