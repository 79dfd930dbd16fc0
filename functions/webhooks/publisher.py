"""Publishing: turns a Firestore write into recorded and queued deliveries (design 1 and 2).

    messages of the write ▸ subscribed URLs ▸ record all deliveries in one commit ▸ enqueue

Every step is idempotent: IDs are derived from the cause, a record is created once, and a task name
is used once. If a trigger fails, Eventarc runs it again, and the trigger continues its work.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from functions import cache, log, ports
from functions.firestore.model import AlreadyRecordedError, Version
from functions.wall.photo_store import PhotoStore
from functions.wall.wall_event import Photo, WallEvent
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.fair_queue import FairQueue
from functions.webhooks.events import (
    EventType,
    Milestone,
    WebhookMessage,
    messages_of_event,
    messages_of_photo,
)
from functions.webhooks.milestones import Milestones
from functions.webhooks.signing import RememberedSecrets
from functions.webhooks.webhook_settings import (
    SettingsStore,
    Subscription,
    UnreadableSettingsError,
    WebhookSettings,
    settings_path,
)

_Batch: TypeAlias = tuple[Milestone | None, Sequence[Delivery]]
"""The milestone of a message, if any, and the deliveries to record with the milestone."""


_LOGGED_SECONDS: Final = 86_400.0
"""Minimum seconds between two warnings about the same version of settings."""


@dataclass(eq=False, slots=True, kw_only=True)
class Publisher:
    """Use case: turn writes of photos and events into deliveries."""

    wall: PhotoStore
    settings: SettingsStore
    deliveries: DeliveryStore
    secrets: RememberedSecrets
    task_queue: ports.TaskQueue
    fair_queue: FairQueue
    in_parallel: ports.ParallelMap
    clock: ports.Clock
    _logged: cache.TtlCache[tuple[str, Version | None], bool] = field(init=False)
    """Settings whose mistakes were logged, by event and version."""
    milestones: Milestones = field(init=False)

    def __post_init__(self) -> None:
        """Create the caches of logged mistakes and claimed milestones."""
        self._logged = cache.TtlCache(self.clock, seconds=_LOGGED_SECONDS)
        self.milestones = Milestones(self.wall, self.clock)

    def photo_written(
        self, write_id: str, event_id: str, before: Photo | None, after: Photo | None
    ) -> None:
        """Publish the messages of one write of a photo. `write_id` is the ID of the CloudEvent."""
        messages = messages_of_photo(write_id, before, after)
        if not messages:
            return
        now = self.clock.now()  # not later than the settings are read (`Delivery.needs_settings`)
        settings = self._load_settings(event_id)
        if after is None and (
            not settings.wants(EventType.PHOTO_DELETED) or self.settings.event(event_id) is None
        ):
            return  # no endpoint wants the message, or the photo was deleted with its event
        passed: Sequence[Milestone] = ()
        if before is None and after is not None:
            if settings.wants(EventType.MILESTONE_REACHED):
                unclaimed = self.milestones.unclaimed(event_id, after, settings.urls_changed_at)
                passed = [milestone for milestone in unclaimed if not milestone.photo_id]
                reached = [milestone for milestone in unclaimed if milestone.photo_id]
                milestone_messages = [
                    WebhookMessage.milestone_reached(
                        event_id, milestone, after, delay_seconds=index
                    )
                    for index, milestone in enumerate(reached)
                ]
                messages = [*messages, *milestone_messages]
            if settings.wants(EventType.GUEST_JOINED) and (after.guest or after.uploader_uid):
                messages = [*messages, *self._joined(event_id, after)]
        self._publish(event_id, messages, settings.subscriptions, now, passed)

    def event_written(
        self, write_id: str, event_id: str, before: WallEvent | None, after: WallEvent | None
    ) -> None:
        """Publish the messages of one write of an event. `write_id` is the ID of the CloudEvent.

        Create the secret of a new event, so that receivers can be configured before the first
        delivery.
        """
        if before is None and after is not None:
            self.secrets.create(event_id)
        messages = messages_of_event(write_id, before, after)
        if messages:
            now = self.clock.now()
            settings = self._load_settings(event_id)
            self._publish(event_id, messages, settings.subscriptions, now)

    def _joined(self, event_id: str, photo: Photo) -> Iterable[WebhookMessage]:
        """Yield the message that a guest has joined, if `photo` is the guest's first photo."""
        first = self.wall.first_photo_by(event_id, photo)
        if first is None:  # the photo has no `createdAt`, or the guest's only photo was deleted
            yield WebhookMessage.guest_joined(event_id, photo)
        elif (first.created_at, first.id) >= (photo.created_at, photo.id):
            # If the first photo is a later photo, `photo` was deleted before its trigger ran. The
            # later photo's trigger may have run before the deletion, so its message is sent here.
            yield WebhookMessage.guest_joined(event_id, photo if first.id == photo.id else first)

    def _load_settings(self, event_id: str) -> WebhookSettings:
        """Return the settings, and log mistakes in them once for each version.

        Malformed settings count as settings without URLs, because an error would delay the triggers
        of all other events.
        """
        settings = self.settings.load(event_id)
        unknown = [endpoint.id for endpoint in settings.subscriptions if endpoint.has_unknown_types]
        key = (event_id, settings.version)
        if (settings.is_readable and not unknown) or self._logged.get(key):
            return settings
        self._logged.put(key, value=True)
        if not settings.is_readable:
            malformed = UnreadableSettingsError()
            log.fault("record.unreadable", malformed, path=settings_path(event_id))
        if unknown:
            log.warning(
                "webhooks.unknown-event-types", eventId=event_id, endpoints=" ".join(unknown)
            )
        return settings

    def _publish(
        self,
        event_id: str,
        messages: Sequence[WebhookMessage],
        subscribed: Sequence[Subscription],
        now: datetime,
        passed: Sequence[Milestone] = (),
    ) -> None:
        """Record the deliveries of `messages` with all milestones, and enqueue untried deliveries.

        A milestone of a message is recorded with its deliveries. `passed` are milestones without a
        message.
        """
        batches: list[_Batch] = [
            (message.milestone, self._fan_out(message, event_id, subscribed, now))
            for message in messages
        ]
        batches += [(milestone, []) for milestone in passed]
        counted = [
            delivery.id
            for _, deliveries in batches
            for delivery in deliveries
            if delivery.outcome.is_open
        ]
        new: Sequence[Delivery] = ()
        try:
            new, earlier = self._record(event_id, batches)
        finally:  # the fair queue must count only new deliveries
            for _ in set(counted) - {delivery.id for delivery in new}:
                self.fair_queue.undo(event_id)
        recorded = {delivery.id: delivery for delivery in (*new, *earlier)}
        for delivery in recorded.values():  # includes the records of an earlier, incomplete run
            if delivery.outcome is Outcome.SKIPPED:
                log.warning(
                    "delivery.skipped",
                    deliveryId=delivery.id,
                    eventId=delivery.event_id,
                    event=delivery.event_type,
                    host=delivery.host,
                    reason=delivery.reason,
                )
        of_urls: dict[str, list[Delivery]] = defaultdict(list)
        for _, deliveries in batches:
            for delivery in deliveries:
                if delivery.id in recorded and recorded[delivery.id].is_untried:
                    of_urls[delivery.url].append(recorded[delivery.id])
        self.in_parallel(self._enqueue_in_order, of_urls.values())

    def _enqueue_in_order(self, deliveries: Iterable[Delivery]) -> None:
        """Enqueue the deliveries to one URL, in the order of their messages."""
        for delivery in deliveries:
            self.task_queue.enqueue(attempt_task(delivery))

    def _fan_out(
        self,
        message: WebhookMessage,
        event_id: str,
        subscribed: Sequence[Subscription],
        now: datetime,
    ) -> Sequence[Delivery]:
        """Create a delivery for each endpoint that subscribes to the message (spec 6.3.4).

        The fair queue decides when each delivery is due.
        """
        endpoints = [entry for entry in subscribed if message.event_type in entry.event_types]
        if not endpoints:
            return []
        counts_photos = message.event_type is EventType.EVENT_ARCHIVED
        data = message.payload(self.wall.count_photos(event_id) if counts_photos else 0)
        deliveries = [
            Delivery.create(
                cause=message.cause,
                event_id=event_id,
                event_type=message.event_type,
                url=endpoint.url,
                endpoint=endpoint.id,
                data=data,
                now=now,
                disabled=endpoint.disabled,
                written_at=message.written_at,
            )
            for endpoint in endpoints
        ]
        return [
            delivery.due_after(now + self.fair_queue.delay_for(event_id, message.wait))
            if delivery.outcome.is_open
            else delivery
            for delivery in deliveries
        ]

    def _record(
        self, event_id: str, batches: Sequence[_Batch]
    ) -> tuple[Sequence[Delivery], Sequence[Delivery]]:
        """Record milestones with their deliveries.

        If a record exists, this trigger ran before, or another photo reached the milestone first.
        In that case read the existing records and record the rest.

        Returns:
            The new deliveries, and the deliveries that were recorded before.
        """
        deliveries = [delivery for _, made in batches for delivery in made]
        milestones = [milestone for milestone, _ in batches if milestone]
        if not deliveries and not milestones:
            return [], []
        try:
            self.deliveries.create(event_id, deliveries, milestones)
        except AlreadyRecordedError:
            recorded = self.deliveries.find(event_id, [delivery.id for delivery in deliveries])
            numbers = [milestone.number for milestone in milestones]
            reached_by = self.wall.milestones(event_id, numbers)
            rest: list[_Batch] = []
            earlier: list[Delivery] = []
            for milestone, made in batches:
                is_new = milestone is None or milestone.number not in reached_by
                if milestone and not is_new and reached_by[milestone.number] != milestone.photo_id:
                    continue  # reached by another photo, or passed before
                missing = [delivery for delivery in made if delivery.id not in recorded]
                rest.append((milestone if is_new else None, missing))
                earlier += filter(None, (recorded.get(delivery.id) for delivery in made))
            new, others = self._record(event_id, rest)
            return new, [*earlier, *others]
        return deliveries, []
