"""The `data` object of each event type: spec 6.1, field for field, as nested objects (design 3.9).

Every field of the table is always there; one that is not known is null.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from functions.clock import wire_time
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent

Payload: TypeAlias = Mapping[str, object]


def photo_uploaded(photo: Photo) -> Payload:
    """`photo.uploaded`."""
    return {
        "photo": {
            "id": photo.id,
            "status": photo.status,
            "url": photo.url,
            "uploaderName": photo.uploader_name,
            "uploaderEmail": photo.uploader_email,
            "createdAt": wire_time(photo.created_at),
        }
    }


def photo_approved(photo: Photo, *, by_moderator: bool) -> Payload:
    """`photo.approved`; under auto-approve nobody approved it, at the moment of the upload."""
    approved_at = (photo.approved_at or photo.updated_at) if by_moderator else photo.created_at
    return {
        "photo": {
            "id": photo.id,
            "status": photo.status,
            "url": photo.url,
            "uploaderName": photo.uploader_name,
            "approvedAt": wire_time(approved_at),
            "approvedBy": photo.approved_by if by_moderator else None,
        }
    }


def photo_rejected(photo: Photo) -> Payload:
    """`photo.rejected`."""
    return {
        "photo": {
            "id": photo.id,
            "status": photo.status,
            "uploaderName": photo.uploader_name,
            "rejectedAt": wire_time(photo.rejected_at or photo.updated_at),
            "rejectedBy": photo.rejected_by,
            "reason": photo.reason,
        }
    }


def photo_deleted(photo: Photo) -> Payload:
    """`photo.deleted`; `photo` is as it was before, with the time of the deletion."""
    return {"photo": {"id": photo.id, "deletedAt": wire_time(photo.updated_at)}}


def event_published(event: WallEvent) -> Payload:
    """`event.published`."""
    return {
        "eventName": event.name,
        "template": event.template,
        "publishedAt": wire_time(event.published_at or event.updated_at),
        "galleryUrl": event.gallery_url,
    }


def event_archived(event: WallEvent, *, photo_count: int) -> Payload:
    """`event.archived`."""
    return {
        "archivedAt": wire_time(event.archived_at or event.updated_at),
        "photoCount": photo_count,
    }


def milestone_reached(milestone: int, *, reached_at: datetime, latest: Photo) -> Payload:
    """`milestone.reached`."""
    return {
        "milestone": milestone,
        "reachedAt": wire_time(reached_at),
        "latestPhoto": {"id": latest.id, "uploaderName": latest.uploader_name},
    }


def guest_joined(first_photo: Photo) -> Payload:
    """`guest.joined`; a guest without an address is known by `uploaderUid`, which is not told."""
    return {
        "uploaderName": first_photo.uploader_name,
        "uploaderEmail": first_photo.uploader_email if first_photo.guest else None,
        "firstPhotoId": first_photo.id,
        "joinedAt": wire_time(first_photo.created_at),
    }
