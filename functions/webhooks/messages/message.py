"""A message: something noteworthy that happened at an event, for the URLs that take its type."""

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
