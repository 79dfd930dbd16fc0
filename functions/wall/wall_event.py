"""An event of the wall as the triggers see it: read once, at the edge, into types."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from functions.firestore.fields import status, text, time


class EventStatus(StrEnum):
    """State of an event (spec 3.2). `DRAFT` stands for everything not named there."""

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
    tenant_id: str = ""
    language: str | None = None
    reply_to: str | None = None

    @classmethod
    def read(cls, fields: Mapping[str, Any], *, updated: datetime) -> Self:
        """Read the fields of `events/{eventId}`."""
        return cls(
            status=status(fields, EventStatus.DRAFT),
            name=text(fields.get("name")),
            template=text(fields.get("template")),
            gallery_url=text(fields.get("galleryUrl")),
            published_at=time(fields.get("publishedAt")),
            archived_at=time(fields.get("archivedAt")),
            updated_at=updated,
            tenant_id=text(fields.get("tenantId")) or "",
            language=text(fields.get("language")),
            reply_to=text(fields.get("replyTo")),
        )
