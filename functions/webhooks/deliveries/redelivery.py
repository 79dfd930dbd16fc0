"""Redelivery of ended deliveries, and recovery of lost tasks (design 2).

A redelivery has four new attempts and the same ID and body. The sweep finds deliveries whose task
was lost and enqueues the due attempt.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Final

from functions import log, ports
from functions.call.errors import CallError, Code
from functions.firestore.model import ChangedMeanwhileError
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError
from functions.webhooks.deliveries.fair_queue import FairQueue
from functions.webhooks.deliveries.queues import TASK_TRIED_FOR
from functions.webhooks.webhook_settings import Subscription, WebhookSettings


class SkipReason(StrEnum):
    """Reason that deliveries to a URL cannot be resent, as named in the response to a dry run."""

    REMOVED = "removedUrl"
    DISABLED = "disabledUrl"
    UNUSABLE = "unusableUrl"


_WHAT_TO_CHANGE: Final = {
    SkipReason.REMOVED: (
        "The delivery's URL is no longer one of the event's webhook URLs. Add the URL first."
    ),
    SkipReason.DISABLED: (
        "The delivery's URL is switched off. Switch it on in the event's webhook settings first"
        " (`off`, `disabled`)."
    ),
    SkipReason.UNUSABLE: "This delivery was skipped because its URL is invalid. Fix the URL first.",
}


@dataclass(frozen=True, slots=True)
class Redelivery:
    """Use case: resend deliveries that have ended."""

    deliveries: DeliveryStore
    task_queue: ports.TaskQueue
    fair_queue: FairQueue
    clock: ports.Clock

    def resend_one(
        self,
        event_id: str,
        delivery_id: str,
        settings: WebhookSettings,
        *,
        read_at: datetime,
        only_url: str | None = None,
    ) -> None:
        """Resend one delivery.

        Args:
            event_id: ID of the event.
            delivery_id: ID of the delivery.
            settings: Webhook settings of the event.
            read_at: Time at which the settings were read, or earlier.
            only_url: The only URL that the delivery may have gone to and may go to.

        Raises:
            CallError: `not-found`, also if the delivery went to another URL than `only_url`.
                `aborted` if the delivery has not ended. `failed-precondition` if the URL cannot
                receive deliveries.
        """
        while True:
            delivery = self.deliveries.load(event_id, delivery_id)
            if delivery is None or only_url not in (None, delivery.url):
                raise CallError(Code.NOT_FOUND, "The event has no delivery with that deliveryId.")
            if delivery.outcome.is_open:
                raise CallError(
                    Code.ABORTED, "The delivery is still in progress. Wait until it has ended."
                )
            endpoint = settings.of(delivery.endpoint, delivery.url)
            if endpoint and only_url not in (None, endpoint.url):
                endpoint = settings.by_url.get(delivery.url)
            obstacle = skip_reason_of(endpoint)
            if endpoint is None or obstacle:
                raise CallError(
                    Code.FAILED_PRECONDITION, _WHAT_TO_CHANGE[obstacle or SkipReason.REMOVED]
                )
            if self.begin(delivery, endpoint, read_at):
                return

    def begin(self, ended: Delivery, endpoint: Subscription, read_at: datetime) -> bool:
        """Record the redelivery and enqueue its first attempt.

        The attempts go to the current URL of the `endpoint`, which was read at `read_at` or later.

        Returns:
            False if the delivery has changed since it was read.
        """
        due = self.clock.now() + self.fair_queue.delay_for(ended.event_id)
        delivery = ended.redelivered(
            due, url=endpoint.url, endpoint=endpoint.id, settings_read_at=read_at
        )
        try:
            self.deliveries.restart(delivery)
        except ChangedMeanwhileError:
            self.fair_queue.undo(ended.event_id)
            # Changed by a concurrent resend, or by this call if its response was lost.
            found = self.deliveries.load(delivery.event_id, delivery.id)
            if not found or not found.is_untried:
                return False
            delivery = found
        self.task_queue.enqueue(attempt_task(delivery))
        return True


def skip_reason_of(endpoint: Subscription | None) -> SkipReason | None:
    """Return why deliveries to the endpoint cannot be resent, or None if they can."""
    if endpoint is None:
        return SkipReason.REMOVED
    if endpoint.disabled:
        return SkipReason.DISABLED
    try:
        EndpointUrl.parse(endpoint.url)
    except UnusableUrlError:
        return SkipReason.UNUSABLE
    return None


OVERDUE_AFTER: Final = timedelta(minutes=2)
"""Lateness from which the task of an attempt counts as lost. Longer than the delay of a busy queue.
"""

_AT_A_TIME: Final = 100
"""Number of overdue deliveries that are enqueued in parallel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """Use case: requeue overdue deliveries. A second task for the same attempt has no effect."""

    deliveries: DeliveryStore
    task_queue: ports.TaskQueue
    in_parallel: ports.ParallelMap
    clock: ports.Clock

    def sweep(self) -> int:
        """Requeue overdue deliveries and return their number."""
        now = self.clock.now()
        overdue = self.deliveries.overdue(now - OVERDUE_AFTER)
        count = 0
        while page := list(islice(overdue, _AT_A_TIME)):
            self.in_parallel(
                self.task_queue.enqueue, [_swept_task(delivery, now) for delivery in page]
            )
            count += len(page)
        if count:
            log.warning("deliveries.overdue", count=count)
        return count


def _swept_task(delivery: Delivery, now: datetime) -> ports.Task:
    """Return a task with a new name, because Cloud Tasks reserves the lost task's name for a day.

    In the first hour the name changes each time the lateness doubles. Deliveries in a busy queue
    therefore get few tasks, and two overlapping sweeps create one task. Later the name changes
    every hour, because a queue gives up a failing task after an hour.
    """
    late = now - (delivery.next_attempt_at or now)
    hours, doublings = late // TASK_TRIED_FOR, (late // OVERDUE_AFTER).bit_length()
    return attempt_task(delivery, suffix=f"-sweep{hours}h" if hours else f"-sweep{doublings}")
