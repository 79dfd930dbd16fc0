"""Photos and events of the wall as the triggers see them: read once, at the edge, into types.

The documents are written by clients, so every field may be missing or of a wrong type. What cannot
be read becomes `None` and never an error: a trigger that fails on a document fails for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Self, TypeVar


class PhotoStatus(StrEnum):
    """Moderation state of a photo (SPEC 3.1)."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class EventStatus(StrEnum):
    """State of an event of the wall (SPEC 3.2). `DRAFT` stands for everything not named there."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


_S = TypeVar("_S", bound=StrEnum)


def _status(fields: Mapping[str, Any], otherwise: _S) -> _S:
    """Status in `fields`, or `otherwise` where it is none that the specification names."""
    try:
        return type(otherwise)(str(fields.get("status")))
    except ValueError:
        return otherwise


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _time(value: object) -> datetime | None:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A photo document at one moment (SPEC 2.2).

    `created_at` is the field, or else the time at which Firestore created the document;
    `updated_at` the time of the write that is looked at. All times are aware and in UTC.
    """

    id: str
    status: PhotoStatus
    url: str | None
    uploader_name: str | None
    uploader_email: str | None
    created_at: datetime
    updated_at: datetime
    approved_at: datetime | None
    approved_by: str | None
    rejected_at: datetime | None
    rejected_by: str | None
    reason: str | None

    @classmethod
    def read(
        cls, photo_id: str, fields: Mapping[str, Any], *, created: datetime, updated: datetime
    ) -> Self:
        """Read the fields of `events/{eventId}/photos/{photoId}`.

        A status that is none of the three counts as pending: nobody has moderated that photo.
        """
        return cls(
            id=photo_id,
            status=_status(fields, PhotoStatus.PENDING),
            url=_text(fields.get("url")),
            uploader_name=_text(fields.get("uploaderName")),
            uploader_email=_text(fields.get("uploaderEmail")),
            created_at=_time(fields.get("createdAt")) or created,
            updated_at=updated,
            approved_at=_time(fields.get("approvedAt")),
            approved_by=_text(fields.get("approvedBy")),
            rejected_at=_time(fields.get("rejectedAt")),
            rejected_by=_text(fields.get("rejectedBy")),
            reason=_text(fields.get("reason")),
        )

    @classmethod
    def made_up(cls, now: datetime) -> Self:
        """A photo that nobody uploaded, to show a receiver what one looks like."""
        return cls(
            id="test",
            status=PhotoStatus.PENDING,
            url="https://example.com/test.jpg",
            uploader_name="Test Guest",
            uploader_email="guest@example.com",
            created_at=now,
            updated_at=now,
            approved_at=None,
            approved_by=None,
            rejected_at=None,
            rejected_by=None,
            reason=None,
        )

    @property
    def guest(self) -> str | None:
        """The uploader's e-mail address, trimmed and case-folded; None where none was left."""
        return (self.uploader_email or "").strip().casefold() or None


@dataclass(frozen=True, slots=True, kw_only=True)
class WallEvent:
    """An event document at one moment (SPEC 2.1). All times are aware and in UTC."""

    status: EventStatus
    name: str | None
    template: str | None
    gallery_url: str | None
    published_at: datetime | None
    archived_at: datetime | None
    updated_at: datetime

    @classmethod
    def read(cls, fields: Mapping[str, Any], *, updated: datetime) -> Self:
        """Read the fields of `events/{eventId}`."""
        return cls(
            status=_status(fields, EventStatus.DRAFT),
            name=_text(fields.get("name")),
            template=_text(fields.get("template")),
            gallery_url=_text(fields.get("galleryUrl")),
            published_at=_time(fields.get("publishedAt")),
            archived_at=_time(fields.get("archivedAt")),
            updated_at=updated,
        )
