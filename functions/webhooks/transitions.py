"""Which event types a write of a document means (SPEC 3.1 and 3.2)."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from functions.webhooks.catalogue import MILESTONES, EventType
from functions.webhooks.records import EventStatus, Photo, PhotoStatus, WallEvent

_MODERATED: Final = {
    (PhotoStatus.PENDING, PhotoStatus.APPROVED): EventType.PHOTO_APPROVED,
    (PhotoStatus.PENDING, PhotoStatus.REJECTED): EventType.PHOTO_REJECTED,
}


def of_photo(before: Photo | None, after: Photo | None) -> tuple[EventType, ...]:
    """Event types of SPEC 3.1 that one write of a photo fires; none for any other write.

    `before` is None for an upload, `after` is None for a delete.
    """
    if after is None:
        return ()
    if before is None:
        if after.status is PhotoStatus.APPROVED:
            return (EventType.PHOTO_UPLOADED, EventType.PHOTO_APPROVED)
        return (EventType.PHOTO_UPLOADED,)
    moderated = _MODERATED.get((before.status, after.status))
    return (moderated,) if moderated else ()


def of_event(before: WallEvent | None, after: WallEvent | None) -> EventType | None:
    """Event type of SPEC 3.2 that one write of an event fires, if any.

    An archived event is not live: publishing it again is going live again.
    """
    if after is None:
        return None
    was_live = before is not None and before.status is EventStatus.PUBLISHED
    if after.status is EventStatus.PUBLISHED and not was_live:
        return EventType.EVENT_PUBLISHED
    if after.status is EventStatus.ARCHIVED and was_live:
        return EventType.EVENT_ARCHIVED
    return None


def milestones_due(photo_count: int, recorded: AbstractSet[int]) -> Sequence[int]:
    """Milestones that `photo_count` has reached and that are not `recorded` yet (SPEC 6.1)."""
    return [n for n in MILESTONES if n <= photo_count and n not in recorded]
