"""What a write of a document means to receivers (spec 3.1 and 3.2), as messages."""

from collections.abc import Callable, Sequence

from functions.wall.photo import Photo, PhotoStatus
from functions.wall.wall_event import EventStatus, WallEvent
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.message import Message
from functions.webhooks.messages.payloads import Payload


def of_photo(write_id: str, before: Photo | None, after: Photo | None) -> Sequence[Message]:
    """The messages of one write of a photo (spec 3.1); none for most writes.

    `write_id` names the write; `before` is None for an upload. `after` is None for a deletion, and
    `before` has the time of the deletion then.
    """
    photo = after or before
    if photo is None:
        return []

    def told(event_type: EventType, payload: Callable[[Photo], Payload]) -> Message:
        return Message(write_id, event_type, lambda: payload(photo), photo.updated_at)

    def approved(photo: Photo) -> Payload:
        return payloads.photo_approved(photo, by_moderator=before is not None)

    earlier, later = before and before.status, after and after.status
    messages = []
    if earlier is None:
        messages.append(told(EventType.PHOTO_UPLOADED, payloads.photo_uploaded))
    if later is PhotoStatus.APPROVED and earlier is not PhotoStatus.APPROVED:
        messages.append(told(EventType.PHOTO_APPROVED, approved))
    if later is PhotoStatus.REJECTED and earlier in (PhotoStatus.PENDING, PhotoStatus.APPROVED):
        messages.append(told(EventType.PHOTO_REJECTED, payloads.photo_rejected))
    if later is None and earlier is PhotoStatus.APPROVED:  # receivers know of no other photo
        messages.append(told(EventType.PHOTO_DELETED, payloads.photo_deleted))
    return messages


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

    def published() -> Payload:
        return payloads.event_published(after)

    def archived() -> Payload:
        return payloads.event_archived(after, photo_count=count_photos())

    was_live = before is not None and before.status is EventStatus.PUBLISHED
    match (was_live, after.status):
        case (False, EventStatus.PUBLISHED):
            told, payload = EventType.EVENT_PUBLISHED, published
        case (True, EventStatus.ARCHIVED):
            told, payload = EventType.EVENT_ARCHIVED, archived
        case _:
            return []
    return [Message(write_id, told, payload, after.updated_at)]
