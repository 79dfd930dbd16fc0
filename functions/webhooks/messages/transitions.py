"""What a write of a document means to receivers (spec 3.1 and 3.2), as messages."""

from collections.abc import Callable, Sequence

from functions.wall.photo import Photo, PhotoStatus
from functions.wall.wall_event import EventStatus, WallEvent
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.message import Message


def of_photo(write_id: str, before: Photo | None, after: Photo | None) -> Sequence[Message]:
    """The messages of one write of a photo (spec 3.1); none for most writes.

    `write_id` names the write; `before` is None for an upload. `after` is None for a deletion, and
    `before` has the time of the deletion then.
    """
    if after is None:
        return _of_deletion(write_id, before)
    at = after.updated_at
    uploaded = Message(
        write_id, EventType.PHOTO_UPLOADED, lambda: payloads.photo_uploaded(after), at
    )
    approved = Message(
        write_id,
        EventType.PHOTO_APPROVED,
        lambda: payloads.photo_approved(after, by_moderator=before is not None),
        at,
    )
    rejected = Message(
        write_id, EventType.PHOTO_REJECTED, lambda: payloads.photo_rejected(after), at
    )
    match (before and before.status, after.status):
        case (None, PhotoStatus.APPROVED):
            return [uploaded, approved]
        case (None, _):
            return [uploaded]
        case (PhotoStatus.PENDING | PhotoStatus.REJECTED, PhotoStatus.APPROVED):
            return [approved]
        case (PhotoStatus.PENDING | PhotoStatus.APPROVED, PhotoStatus.REJECTED):
            return [rejected]
        case _:
            return []


def _of_deletion(write_id: str, photo: Photo | None) -> Sequence[Message]:
    """A receiver has been told of approved photos alone."""
    if photo is None or photo.status is not PhotoStatus.APPROVED:
        return []
    return [
        Message(
            write_id,
            EventType.PHOTO_DELETED,
            lambda: payloads.photo_deleted(photo),
            photo.updated_at,
        )
    ]


def of_event(
    write_id: str,
    before: WallEvent | None,
    after: WallEvent | None,
    *,
    count_photos: Callable[[], int],
) -> Sequence[Message]:
    """The messages of one write of an event (spec 3.2); none for most writes.

    An archived event is not live: publishing it again is going live again. `count_photos` is
    asked only for a payload that tells the number.
    """
    if after is None:
        return []
    was_live = before is not None and before.status is EventStatus.PUBLISHED
    if after.status is EventStatus.PUBLISHED and not was_live:
        return [
            Message(
                write_id,
                EventType.EVENT_PUBLISHED,
                lambda: payloads.event_published(after),
                after.updated_at,
            )
        ]
    if after.status is EventStatus.ARCHIVED and was_live:
        return [
            Message(
                write_id,
                EventType.EVENT_ARCHIVED,
                lambda: payloads.event_archived(after, photo_count=count_photos()),
                after.updated_at,
            )
        ]
    return []
