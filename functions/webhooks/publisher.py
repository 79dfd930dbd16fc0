"""From a write in Firestore to recorded and queued deliveries (design 1 and 2).

    messages of the write ▸ URLs that take them ▸ record all deliveries in one commit ▸ enqueue

Each step can be repeated: ids follow from what happened, a record is made once, a task name is
used once. A trigger that fails half-way is run again by Eventarc and ends where it would have.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from functions import log
from functions.clock import Clock
from functions.documents.refusals import AlreadyRecordedError
from functions.gcp.task_queue import Enqueue
from functions.parallel import InParallel
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.fan_out import fan_out
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages import transitions
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.message import Message
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.milestones import Milestones
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.settings.webhook_settings import Subscription, WebhookSettings
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.store import WallStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Turns writes of photos and events into deliveries."""

    wall: WallStore
    settings: SettingsStore
    deliveries: DeliveryStore
    secrets: RememberedSecrets
    enqueue: Enqueue
    pace: Pace
    in_parallel: InParallel
    clock: Clock
    milestones: Milestones

    def photo_written(
        self, write_id: str, event_id: str, before: Photo | None, after: Photo | None
    ) -> None:
        """Publish the messages of one write of a photo; `write_id` is the id of its CloudEvent."""
        messages = transitions.of_photo(write_id, before, after)
        if not messages:
            return
        settings = self.settings.load(event_id)
        if after is None and not self._is_told_of_deletions(event_id, settings):
            return
        behind: Sequence[Milestone] = ()
        if before is None and after is not None:
            if settings.wants(EventType.MILESTONE_REACHED):
                unclaimed = self.milestones.unclaimed(event_id, after, settings.urls_changed_at)
                crossed = [
                    Message.of_milestone(event_id, number, after, place=place)
                    for place, number in enumerate(unclaimed.crossed)
                ]
                behind = [Milestone(number=number) for number in unclaimed.behind]
                messages = [*messages, *crossed]
            if settings.wants(EventType.GUEST_JOINED) and (after.guest or after.uploader_uid):
                messages = [*messages, *self._joined(event_id, after)]
        self._publish(event_id, messages, settings.subscriptions, behind)

    def event_written(
        self, write_id: str, event_id: str, before: WallEvent | None, after: WallEvent | None
    ) -> None:
        """Publish the messages of one write of an event; `write_id` is the id of its CloudEvent.

        A new event gets its secret, so that a receiver can have it before its first delivery.
        """
        if before is None and after is not None:
            self.secrets.make(event_id)
        messages = transitions.of_event(
            write_id,
            before,
            after,
            count_photos=lambda: self.wall.count_photos(event_id),
        )
        if messages:
            self._publish(event_id, messages, self.settings.load(event_id).subscriptions)

    def _is_told_of_deletions(self, event_id: str, settings: WebhookSettings) -> bool:
        """Whether a URL takes `photo.deleted`; with the event itself its photos are deleted too."""
        is_wanted = settings.wants(EventType.PHOTO_DELETED)
        return is_wanted and self.wall.event(event_id) is not None

    def _joined(self, event_id: str, photo: Photo) -> Iterable[Message]:
        """The message that a guest has joined, if `photo` is the guest's first one."""
        first = self.wall.first_photo_by(event_id, photo)
        if first is None:  # the photo has no createdAt to be found by, or is deleted, the only one
            yield Message.of_guest(event_id, photo)
        elif (first.created_at, first.id) >= (photo.created_at, photo.id):
            # Where a later photo is found first, `photo` was deleted before its trigger ran. The
            # trigger of the later photo may have run before the deletion: its message is made here.
            yield Message.of_guest(event_id, photo if first.id == photo.id else first)

    def _publish(
        self,
        event_id: str,
        messages: Sequence[Message],
        subscribed: Sequence[Subscription],
        behind: Sequence[Milestone] = (),
    ) -> None:
        untried = self._record(event_id, messages, subscribed, behind)
        self.in_parallel(self.enqueue, [attempt_task(delivery) for delivery in untried])

    def _record(
        self,
        event_id: str,
        messages: Sequence[Message],
        subscribed: Sequence[Subscription],
        behind: Sequence[Milestone],
    ) -> Sequence[Delivery]:
        """Record deliveries and milestones; the deliveries whose first attempt is still owed.

        Where a record exists, this trigger ran before or another photo was first: what exists is
        read, and the rest is recorded.
        """
        now = self.clock.now()
        owed = [
            (self._paced(fan_out(message, event_id, subscribed, now)), message.milestone)
            for message in messages
        ]
        owed += [([], milestone) for milestone in behind]
        counted = [delivery for deliveries, _ in owed for delivery in deliveries]
        there: Mapping[str, Delivery] = {}
        reached_by: Mapping[int, str | None] = {}
        new: Sequence[Delivery] = ()
        try:
            while True:
                owed = [
                    (deliveries, milestone)
                    for deliveries, milestone in owed
                    # No other photo, or none, was first.
                    if milestone is None
                    or reached_by.get(milestone.number, milestone.photo_id) == milestone.photo_id
                ]
                deliveries = [delivery for part, _ in owed for delivery in part]
                milestones = [milestone for _, milestone in owed if milestone]
                missing = [delivery for delivery in deliveries if delivery.id not in there]
                unreached = [found for found in milestones if found.number not in reached_by]
                try:
                    if missing or unreached:
                        self.deliveries.create(event_id, missing, unreached)
                    new = missing
                    break
                except AlreadyRecordedError:
                    ids = [delivery.id for delivery in deliveries]
                    there = self.deliveries.find(event_id, ids)
                    numbers = [milestone.number for milestone in milestones]
                    reached_by = self.wall.milestones(event_id, numbers)
        finally:
            self._take_back(counted, new)
        for delivery in new:
            if delivery.outcome is Outcome.SKIPPED:
                log.warning(
                    "delivery.skipped",
                    deliveryId=delivery.id,
                    eventId=delivery.event_id,
                    event=delivery.event_type,
                    host=host_of(delivery.url),
                    reason=delivery.reason,
                )
        recorded = [there.get(delivery.id, delivery) for delivery in deliveries]
        return [delivery for delivery in recorded if delivery.is_untried]

    def _take_back(self, counted: Iterable[Delivery], new: Iterable[Delivery]) -> None:
        """Have the pace count only what is recorded anew."""
        recorded = {delivery.id for delivery in new}
        for delivery in counted:
            if delivery.outcome.is_open and delivery.id not in recorded:
                self.pace.take_back(delivery.event_id)

    def _paced(self, deliveries: Iterable[Delivery]) -> Sequence[Delivery]:
        return [
            delivery.due_after(delivery.created_at + self.pace.wait(delivery.event_id))
            if delivery.outcome.is_open
            else delivery
            for delivery in deliveries
        ]
