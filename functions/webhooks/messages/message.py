"""Something noteworthy that happened at an event, ready to be told to whoever takes its type."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from functions.wall.photo import Photo
from functions.webhooks.messages import payloads
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.messages.payloads import Payload


@dataclass(frozen=True, slots=True)
class Message:
    """What happened, for the receivers that take `event`.

    Attributes:
        cause: Names what happened, and stays the same however often it is looked at.
        event: Its type.
        payload: Gives the `data` of the body; asked only where somebody takes the type, because
            one type counts photos for it.
        written_at: When Firestore took the write that tells of it.
        milestone: What has to be recorded together with the deliveries.
        wait: How much later than they are recorded its deliveries are due.
    """

    cause: str
    event: EventType
    payload: Callable[[], Payload]
    written_at: datetime
    milestone: Milestone | None = None
    wait: timedelta = timedelta(0)

    @classmethod
    def of_milestone(cls, event_id: str, number: int, photo: Photo, *, place: int = 0) -> Self:
        """That `photo` has brought the event to `number` photos; once an event (design 3).

        `place` is that among several milestones of one photo: a second lies between them, so that
        receivers hear of them in order.
        """
        reached_at = photo.updated_at
        return cls(
            f"{event_id}\nmilestone\n{number}",
            EventType.MILESTONE_REACHED,
            lambda: payloads.milestone_reached(number, reached_at=reached_at, latest=photo),
            reached_at,
            Milestone(number=number, photo_id=photo.id, reached_at=reached_at),
            wait=timedelta(seconds=place),
        )

    @classmethod
    def of_guest(cls, event_id: str, first_photo: Photo) -> Self:
        """That a guest has joined.

        Named after the guest, not the write: another spelling of the address, or a first photo
        after all others were deleted, is the same guest and makes the same delivery. A guest
        without an address is known by `uploader_uid` (design 3).
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
