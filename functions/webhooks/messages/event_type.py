"""The event types that a receiver can subscribe to (spec 6.1)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final


class EventType(StrEnum):
    """Name of an event type, as it stands in the body and in `Wall-Event-Type`."""

    PHOTO_UPLOADED = "photo.uploaded"
    PHOTO_APPROVED = "photo.approved"
    PHOTO_REJECTED = "photo.rejected"
    EVENT_PUBLISHED = "event.published"
    EVENT_ARCHIVED = "event.archived"
    MILESTONE_REACHED = "milestone.reached"
    GUEST_JOINED = "guest.joined"
    PHOTO_DELETED = "photo.deleted"


BY_DEFAULT: Final = frozenset(EventType) - {EventType.PHOTO_DELETED}
"""The seven types of a URL that lists none."""


MILESTONES: Final = (100, 500, 1000, 5000, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """`events/{eventId}/milestones/{number}`: when it was reached, and by which photo.

    Neither is known of a milestone that was passed; it is recorded, and nobody is notified.
    """

    number: int
    photo_id: str | None = None
    reached_at: datetime | None = None
