"""A message: something noteworthy that happened at an event, for the URLs that take its type.

A write of a document makes messages (spec 3.1 and 3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from functions.wall.photo import Photo, PhotoStatus
from functions.wall.wall_event import EventStatus, WallEvent
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType, Milestone
from functions.webhooks.messages.payloads import Payload


@dataclass(frozen=True, slots=True)
class Message:
    """What happened, for the receivers that take `event_type`.

    Attributes:
        cause: Names the write, the milestone or the guest; the same name at every run.
        event_type: Its type.
        payload: Gives the `data` of the body; called only if a URL takes the type, because one type
            counts photos for it.
        written_at: When Firestore took the write that tells of it.
        milestone: The milestone to record together with the deliveries.
        wait: How much later than they are recorded its deliveries are due.
    """

    cause: str
    event_type: EventType
    payload: Callable[[], Payload]
    written_at: datetime
    milestone: Milestone | None = None
    wait: timedelta = timedelta(0)

    @classmethod
    def of_milestone(
        cls, event_id: str, milestone: Milestone, photo: Photo, *, place: int = 0
    ) -> Self:
        """The message that `photo` brought the event to the milestone; once (design 3.11).

        Of several milestones of one photo each has its `place`, and is due that many seconds later,
        so that receivers get them in order.
        """
        number, reached_at = milestone.number, photo.updated_at
        return cls(
            f"{event_id}\nmilestone\n{number}",
            EventType.MILESTONE_REACHED,
            lambda: payloads.milestone_reached(number, reached_at=reached_at, latest=photo),
            reached_at,
            milestone,
            wait=timedelta(seconds=place),
        )

    @classmethod
    def of_guest(cls, event_id: str, first_photo: Photo) -> Self:
        """The message that a guest has joined.

        Named after the guest, not the write: another spelling of the address, or a first photo
        after all others were deleted, is the same guest and makes the same delivery. A guest
        without an address is known by `uploader_uid` (design 3.12).
        """
        known_by = (
            f"guest\n{first_photo.guest}"
            if first_photo.guest
            else f"guest without an address\n{first_photo.uploader_uid}"
        )
        return cls(
            f"{event_id}\n{known_by}",
            EventType.GUEST_JOINED,
            lambda: payloads.guest_joined(first_photo),
            first_photo.updated_at,
        )


def messages_of_photo(
    write_id: str, before: Photo | None, after: Photo | None
) -> Sequence[Message]:
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


def messages_of_event(
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
