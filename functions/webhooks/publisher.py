"""From a write in Firestore to recorded and queued deliveries (DESIGN 1 and 2).

    decide what the write means ▸ who takes it ▸ record all of it in one commit ▸ enqueue

Each step can be repeated: ids follow from what happened, a record is made once, a task name is
used once. A trigger that fails half-way is run again by Eventarc and ends where it would have.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from typing import Final

from functions import log
from functions.gcp.delivery_store import AlreadyRecordedError, DeliveryStore
from functions.gcp.task_queue import TaskQueue
from functions.gcp.wall_store import WallStore
from functions.webhooks import payloads, subscriptions, transitions
from functions.webhooks.attempt_task import attempt_task
from functions.webhooks.catalogue import MILESTONES, EventType
from functions.webhooks.delivery import Delivery, Outcome
from functions.webhooks.destination import host_of
from functions.webhooks.occurrence import Milestone, Occurrence
from functions.webhooks.records import Photo, WallEvent
from functions.webhooks.subscriptions import Subscription

_SIDE_BY_SIDE: Final = 20  # the URLs of one event type get their tasks at the same time

_MILESTONE_REMEMBERED_SECONDS: Final = 60.0
_MILESTONES_REMEMBERED: Final = 10_000


class Publisher:
    """Turns writes of photos and events into deliveries."""

    def __init__(
        self,
        wall: WallStore,
        deliveries: DeliveryStore,
        queue: TaskQueue,
        now: Callable[[], datetime],
    ) -> None:
        """`now` gives the time of a record, aware and in UTC."""
        self._wall = wall
        self._deliveries = deliveries
        self._queue = queue
        self._now = now
        self._milestones_seen: dict[tuple[str, int], float] = {}
        self._enqueuers = ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="enqueue")

    def photo_written(
        self, write_id: str, event_id: str, before: Photo | None, after: Photo | None
    ) -> None:
        """Publish what one write of a photo means; `write_id` is the id of its CloudEvent."""
        fired = transitions.of_photo(before, after)
        if not fired or after is None:
            return
        subscribed = self._subscriptions(event_id)
        if not subscribed:
            return
        occurrences = [
            Occurrence(write_id, one, payloads.of_photo(one, after, uploaded=before is None))
            for one in fired
        ]
        if before is None:
            occurrences += self._first_times(event_id, after, subscribed)
        self._publish(event_id, occurrences, subscribed)

    def event_written(
        self, write_id: str, event_id: str, before: WallEvent | None, after: WallEvent | None
    ) -> None:
        """Publish what one write of an event means; `write_id` is the id of its CloudEvent."""
        fired = transitions.of_event(before, after)
        if fired is None or after is None:
            return
        subscribed = self._subscriptions(event_id)
        if not _is_taken(fired, subscribed):
            return
        if fired is EventType.EVENT_PUBLISHED:
            data = payloads.event_published(after)
        else:
            count = self._wall.count_photos(event_id)
            data = payloads.event_archived(after, photo_count=count)
        self._publish(event_id, [Occurrence(write_id, fired, data)], subscribed)

    def _subscriptions(self, event_id: str) -> Sequence[Subscription]:
        return subscriptions.read(self._wall.webhook_settings(event_id))

    def _first_times(
        self, event_id: str, photo: Photo, subscribed: Sequence[Subscription]
    ) -> Iterable[Occurrence]:
        """What an upload may be the first of: photos up to a milestone, photos of a guest."""
        if _is_taken(EventType.MILESTONE_REACHED, subscribed):
            for number in self._milestones_due(event_id, photo):
                yield Occurrence.of_milestone(event_id, number, photo)
        if photo.uploader_email and photo.guest and _is_taken(EventType.GUEST_JOINED, subscribed):
            first = self._wall.first_photo_by(event_id, photo.uploader_email)
            if first in (photo.id, None):  # None: the photo has no createdAt to be found by
                yield Occurrence.of_guest(event_id, photo)

    def _milestones_due(self, event_id: str, photo: Photo) -> Sequence[int]:
        """Milestones that the event has reached and that no other photo is recorded for."""
        now = time.monotonic()
        seen = {
            number
            for number in MILESTONES
            if now - self._milestones_seen.get((event_id, number), -now)
            < _MILESTONE_REMEMBERED_SECONDS
        }
        if len(seen) == len(MILESTONES):
            return []
        count = self._wall.count_photos(event_id, at_most=MILESTONES[-1])
        due = transitions.milestones_due(count, seen)
        return [] if not due else self._unclaimed(event_id, due, photo)

    def _unclaimed(self, event_id: str, milestones: Sequence[int], photo: Photo) -> Sequence[int]:
        recorded = self._wall.milestones(event_id, milestones)
        # A record of this very photo tells that its trigger runs again and may have more to do.
        others = {number for number, photo_id in recorded.items() if photo_id != photo.id}
        if len(self._milestones_seen) > _MILESTONES_REMEMBERED:
            self._milestones_seen.clear()
        self._milestones_seen.update({(event_id, n): time.monotonic() for n in others})
        return [number for number in milestones if number not in others]

    def _publish(
        self, event_id: str, occurrences: Sequence[Occurrence], subscribed: Sequence[Subscription]
    ) -> None:
        tasks = [attempt_task(one) for one in self._record(event_id, occurrences, subscribed)]
        queued = [self._enqueuers.submit(self._queue.enqueue, task) for task in tasks]
        wait(queued)
        for one in queued:
            one.result()

    def _record(
        self, event_id: str, occurrences: Sequence[Occurrence], subscribed: Sequence[Subscription]
    ) -> Sequence[Delivery]:
        """Record what is not on record; the deliveries that still wait for their first attempt."""
        now = self._now()
        known: Mapping[str, Delivery] = {}
        reached: Mapping[int, str] = {}
        while True:
            mine = [one for one in occurrences if not _is_lost(one.milestone, reached)]
            owed = [one for what in mine for one in what.deliveries(event_id, subscribed, now)]
            fresh = [one for one in owed if one.id not in known]
            milestones = [one.milestone for one in mine if one.milestone]
            new_milestones = [one for one in milestones if one.number not in reached]
            if not fresh and not new_milestones:
                break
            try:
                self._deliveries.create(event_id, fresh, new_milestones)
                break
            except AlreadyRecordedError:  # this trigger ran before, or another photo was first
                known = self._deliveries.find(event_id, [one.id for one in owed])
                reached = self._wall.milestones(event_id, [one.number for one in milestones])
        for one in fresh:
            if one.outcome is Outcome.SKIPPED:
                log.warning(
                    "delivery.skipped",
                    deliveryId=one.id,
                    eventId=event_id,
                    event=one.event,
                    host=host_of(one.url),
                    reason=one.reason,
                )
        return [one for one in (known.get(one.id, one) for one in owed) if one.is_untried]


def _is_taken(event: EventType, subscribed: Sequence[Subscription]) -> bool:
    return any(event in one.events for one in subscribed)


def _is_lost(milestone: Milestone | None, reached: Mapping[int, str]) -> bool:
    """Whether another photo was recorded for `milestone`."""
    return milestone is not None and reached.get(milestone.number) not in (
        None,
        milestone.photo_id,
    )
