"""Events and photos of the wall, parsed from their documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from functions.email_address import identity
from functions.firestore.model import as_status, as_text, as_time


class EventStatus(StrEnum):
    """State of an event (spec 3.2). Unknown values are read as `DRAFT`."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class WallEvent:
    """An event document at one moment (spec 2.1). All times are aware and in UTC."""

    status: EventStatus
    name: str | None
    template: str | None
    gallery_url: str | None
    published_at: datetime | None
    archived_at: datetime | None
    updated_at: datetime
    tenant_id: str
    language: str | None
    reply_to: str | None
    logo_url: str | None
    accent_color: str | None

    @classmethod
    def read(cls, fields: Mapping[str, Any], *, updated: datetime) -> Self:
        """Parse the fields of `events/{eventId}`."""
        return cls(
            status=as_status(fields, EventStatus.DRAFT),
            name=as_text(fields.get("name")),
            template=as_text(fields.get("template")),
            gallery_url=as_text(fields.get("galleryUrl")),
            published_at=as_time(fields.get("publishedAt")),
            archived_at=as_time(fields.get("archivedAt")),
            updated_at=updated,
            tenant_id=as_text(fields.get("tenantId")) or "",
            language=as_text(fields.get("language")),
            reply_to=as_text(fields.get("replyTo")),
            logo_url=as_text(fields.get("logoUrl")),
            accent_color=as_text(fields.get("accentColor")),
        )


class PhotoStatus(StrEnum):
    """Moderation state of a photo (spec 3.1)."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A photo document at one moment (spec 2.2).

    All times are aware and in UTC.

    Attributes:
        uploaded_at: Time at which Firestore created the document.
        created_at: The field `createdAt`, or else `uploaded_at`.
        updated_at: Time of the write.
    """

    id: str
    status: PhotoStatus
    url: str | None
    thumb_url: str | None
    featured: bool
    uploader_name: str | None
    uploader_email: str | None
    uploader_uid: str | None
    uploaded_at: datetime
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
        """Parse the fields of `events/{eventId}/photos/{photoId}`.

        An unknown status counts as pending, because the photo has not been moderated.
        """
        return cls(
            id=photo_id,
            status=as_status(fields, PhotoStatus.PENDING),
            url=as_text(fields.get("url")),
            thumb_url=as_text(fields.get("thumbUrl")),
            featured=fields.get("featured") is True,
            uploader_name=as_text(fields.get("uploaderName")),
            uploader_email=as_text(fields.get("uploaderEmail")),
            uploader_uid=as_text(fields.get("uploaderUid")),
            uploaded_at=created,
            created_at=as_time(fields.get("createdAt")) or created,
            updated_at=updated,
            approved_at=as_time(fields.get("approvedAt")),
            approved_by=as_text(fields.get("approvedBy")),
            rejected_at=as_time(fields.get("rejectedAt")),
            rejected_by=as_text(fields.get("rejectedBy")),
            reason=as_text(fields.get("reason")),
        )

    @property
    def guest(self) -> str | None:
        """Identity of the uploader's email address, or None without an address."""
        return identity(self.uploader_email or "") or None
