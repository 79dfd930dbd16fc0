"""From a write in Firestore to recorded and queued deliveries (design 1 and 2).

    what the write means ▸ who takes it ▸ record all of it in one commit ▸ enqueue

Each step can be repeated: ids follow from what happened, a record is made once, a task name is
used once. A trigger that fails half-way is run again by Eventarc and ends where it would have.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from functions import log
from functions.gcp.task_queue import Enqueue
from functions.records import AlreadyRecordedError
from functions.side_by_side import SideBySide
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.endpoint_url import host_of
from functions.webhooks.deliveries.fan_out import fan_out
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.ports import Deliveries
from functions.webhooks.messages import transitions
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.message import Message
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.milestones import Milestones
from functions.webhooks.ports import Wall
from functions.webhooks.settings.ports import Settings
from functions.webhooks.settings.webhook_settings import Subscription
from functions.webhooks.signing.ports import Secrets


class Publisher:
    """Turns writes of photos and events into deliveries."""

    def __init__(
        self,
        *,
        wall: Wall,
        settings: Settings,
        deliveries: Deliveries,
        secrets: Secrets,
        enqueue: Enqueue,
        pace: Pace,
        side_by_side: SideBySide,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """Put the parts together.

        Args:
            wall: What the event and its photos say.
            settings: Which URLs take which event types.
            deliveries: The records.
            secrets: What an event's deliveries will be signed with.
            enqueue: Queues a task.
            pace: When the deliveries are due.
            side_by_side: Queues the tasks of one write.
            now: The time of a record, aware and in UTC.
            monotonic: Seconds that only grow.
        """
        self._wall = wall
        self._settings = settings
        self._deliveries = deliveries
        self._secrets = secrets
        self._enqueue = enqueue
        self._pace = pace
        self._side_by_side = side_by_side
        self._now = now
        self._milestones = Milestones(wall, monotonic)

    def photo_written(
        self, write_id: str, event_id: str, before: Photo | None, after: Photo | None
    ) -> None:
        """Publish what one write of a photo means; `write_id` is the id of its CloudEvent."""
        messages = transitions.of_photo(write_id, before, after)
        if not messages:
            return
        settings = self._settings.load(event_id)
        subscribed = settings.subscriptions
        behind: Sequence[Milestone] = ()
        if before is None and after is not None:
            taken = {event_type for one in subscribed for event_type in one.event_types}
            if EventType.MILESTONE_REACHED in taken:
                unclaimed = self._milestones.unclaimed(event_id, after, settings.written_at)
                crossed = [
                    Message.of_milestone(event_id, number, after, place=place)
                    for place, number in enumerate(unclaimed.crossed)
                ]
                behind = [Milestone(number=one) for one in unclaimed.behind]
                messages = [*messages, *crossed]
            if EventType.GUEST_JOINED in taken and (after.guest or after.uploader_uid):
                messages = [*messages, *self._joined(event_id, after)]
        self._publish(event_id, messages, subscribed, behind)

    def event_written(
        self, write_id: str, event_id: str, before: WallEvent | None, after: WallEvent | None
    ) -> None:
        """Publish what one write of an event means; `write_id` is the id of its CloudEvent.

        A new event gets its secret, so that a receiver can have it before its first delivery.
        """
        if before is None and after is not None:
            self._secrets.make(event_id)
        messages = transitions.of_event(
            write_id,
            before,
            after,
            count_photos=lambda: self._wall.count_photos(event_id),
        )
        if messages:
            self._publish(event_id, messages, self._settings.load(event_id).subscriptions)

    def _joined(self, event_id: str, photo: Photo) -> Iterable[Message]:
        """That the guest has joined, if `photo` is the guest's first, or was until its deletion."""
        first = self._wall.first_photo_by(event_id, photo)
        if first is None:  # the photo has no createdAt to be found by, or is deleted, the only one
            yield Message.of_guest(event_id, photo)
        elif (first.created_at, first.id) >= (photo.created_at, photo.id):
            # A later photo is found first: this one was deleted before its trigger has run. That
            # of the later one may have run before the deletion, so its guest is told of here.
            yield Message.of_guest(event_id, photo if first.id == photo.id else first)

    def _publish(
        self,
        event_id: str,
        messages: Sequence[Message],
        subscribed: Sequence[Subscription],
        behind: Sequence[Milestone] = (),
    ) -> None:
        untried = self._record(event_id, messages, subscribed, behind)
        self._side_by_side(self._enqueue, [attempt_task(one) for one in untried])

    def _record(
        self,
        event_id: str,
        messages: Sequence[Message],
        subscribed: Sequence[Subscription],
        behind: Sequence[Milestone] = (),
    ) -> Sequence[Delivery]:
        """Record what is not on record; the deliveries that still wait for their first attempt."""
        now = self._now()
        owed = [
            (what, [self._paced(one) for one in fan_out(what, event_id, subscribed, now)])
            for what in messages
        ]
        known: Mapping[str, Delivery] = {}
        reached: Mapping[int, str | None] = {}
        while True:
            mine = [(what, them) for what, them in owed if not _is_lost(what.milestone, reached)]
            deliveries = [one for _, them in mine for one in them]
            milestones = [*(what.milestone for what, _ in mine if what.milestone), *behind]
            fresh = [one for one in deliveries if one.id not in known]
            new_milestones = [one for one in milestones if one.number not in reached]
            if not fresh and not new_milestones:
                break
            try:
                self._deliveries.create(event_id, fresh, new_milestones)
                break
            except AlreadyRecordedError:  # this trigger ran before, or another photo was first
                known = self._deliveries.find(event_id, [one.id for one in deliveries])
                reached = self._wall.milestones(event_id, [one.number for one in milestones])
        for one in fresh:
            if one.outcome is Outcome.SKIPPED:
                _log_skipped(one)
        return [one for one in (known.get(one.id, one) for one in deliveries) if one.is_untried]

    def _paced(self, delivery: Delivery) -> Delivery:
        if not delivery.outcome.is_open:
            return delivery
        return delivery.due_after(delivery.created_at + self._pace.wait(delivery.event_id))


def _is_lost(milestone: Milestone | None, reached: Mapping[int, str | None]) -> bool:
    """Whether `milestone` was recorded for another photo, or for none."""
    return milestone is not None and (
        reached.get(milestone.number, milestone.photo_id) != milestone.photo_id
    )


def _log_skipped(delivery: Delivery) -> None:
    log.warning(
        "delivery.skipped",
        deliveryId=delivery.id,
        eventId=delivery.event_id,
        event=delivery.event,
        host=host_of(delivery.url),
        reason=delivery.reason,
    )
