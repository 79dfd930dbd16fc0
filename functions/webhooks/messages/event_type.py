"""The event types that a receiver can subscribe to (spec 6.1)."""

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
