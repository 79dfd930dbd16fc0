"""What of a photo anybody who is signed in may see: no address, no uid, no word of moderation."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.wall.fields import status, text, time
from functions.wall.photo import PhotoStatus


def public_fields(fields: Mapping[str, Any], created: datetime) -> Mapping[str, Any] | None:
    """Fields of `events/{eventId}/wall/{photoId}`; None for a photo that is not approved.

    `fields` are those of the photo; `created` is when Firestore made its document.
    """
    if status(fields, PhotoStatus.PENDING) is not PhotoStatus.APPROVED:
        return None
    return {
        "url": text(fields.get("url")),
        "thumbUrl": text(fields.get("thumbUrl")),
        "uploaderName": text(fields.get("uploaderName")),
        "createdAt": time(fields.get("createdAt")) or created,
        "featured": fields.get("featured") is True,
    }
