"""Something noteworthy that happened at an event, before anybody is told of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from functions.webhooks import payloads
from functions.webhooks.catalogue import EventType
from functions.webhooks.delivery import Delivery
from functions.webhooks.payloads import Payload
from functions.webhooks.records import Photo
from functions.webhooks.subscriptions import Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """`events/{eventId}/milestones/{number}`: when it was reached, and by which photo."""

    number: int
    photo_id: str
    reached_at: datetime


@dataclass(frozen=True, slots=True)
class Occurrence:
    """What happened, for the receivers that take `event`.

    `cause` names it and stays the same however often it is looked at. `milestone` is what has to
    be recorded together with the deliveries.
    """

    cause: str
    event: EventType
    data: Payload
    milestone: Milestone | None = None

    @classmethod
    def of_milestone(cls, event_id: str, number: int, photo: Photo) -> Self:
        """That `photo` has brought the event to `number` photos; once an event (DESIGN 3)."""
        return cls(
            f"{event_id}\nmilestone\n{number}",
            EventType.MILESTONE_REACHED,
            payloads.milestone_reached(number, reached_at=photo.updated_at, latest=photo),
            Milestone(number=number, photo_id=photo.id, reached_at=photo.updated_at),
        )

    @classmethod
    def of_guest(cls, event_id: str, first_photo: Photo) -> Self:
        """That a guest has joined.

        Named after the guest, not the write: another spelling of the address, or a first photo
        after all others were deleted, is the same guest and makes the same delivery.
        """
        return cls(
            f"{event_id}\nguest\n{first_photo.guest}",
            EventType.GUEST_JOINED,
            payloads.guest_joined(first_photo),
        )

    def deliveries(
        self, event_id: str, subscribed: Sequence[Subscription], now: datetime
    ) -> Iterable[Delivery]:
        """One delivery for each URL that takes this event type (SPEC 6.3.4)."""
        for one in subscribed:
            if self.event in one.events:
                yield Delivery.create(
                    cause=self.cause,
                    event_id=event_id,
                    event=self.event,
                    url=one.url,
                    data=self.data,
                    now=now,
                    disabled=one.disabled,
                )
