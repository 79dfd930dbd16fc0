"""Deliveries are queued again (design 2).

A delivery that has ended is sent again: four fresh attempts, same id and body. The sweep finds
deliveries whose task was lost, and queues the attempt that was due.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Final

from functions import log
from functions.call.errors import CallError, Code
from functions.firestore.model import ChangedMeanwhileError
from functions.ports import Clock, InParallel, Task, TaskQueue
from functions.webhooks.deliveries.delivery import Delivery, attempt_task
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError
from functions.webhooks.deliveries.fair_pace import Pace
from functions.webhooks.deliveries.queues import TASK_TRIED_FOR
from functions.webhooks.webhook_settings import Subscription, WebhookSettings


class Obstacle(StrEnum):
    """Why nothing can be sent to a URL again, by the name in the answer to a dry run."""

    REMOVED = "removedUrl"
    DISABLED = "disabledUrl"
    UNUSABLE = "unusableUrl"


_WHAT_TO_CHANGE: Final = {
    Obstacle.REMOVED: (
        "The delivery's URL is not one of the event's webhook URLs any more; add it first."
    ),
    Obstacle.DISABLED: (
        "The delivery's URL is switched off; switch it on in the event's webhook settings first"
        " (`off`, `disabled`)."
    ),
    Obstacle.UNUSABLE: "The delivery was skipped and would be again; correct its URL first.",
}


@dataclass(frozen=True, slots=True)
class Redelivery:
    """Sends deliveries again that have ended."""

    deliveries: DeliveryStore
    task_queue: TaskQueue
    pace: Pace
    clock: Clock

    def begin_one(
        self,
        event_id: str,
        delivery_id: str,
        settings: WebhookSettings,
        *,
        read_at: datetime,
        only_at: str | None = None,
    ) -> None:
        """Send one delivery again; its `settings` were read at `read_at`, or later.

        `only_at` is the URL that the delivery went to and goes to again: a delivery to another URL
        counts as not there.

        Raises:
            CallError: `not-found`, `aborted` where the delivery has not ended, and
                `failed-precondition` where no delivery may or can go to the URL.
        """
        while True:
            delivery = self.deliveries.load(event_id, delivery_id)
            if delivery is None or only_at not in (None, delivery.url):
                raise CallError(Code.NOT_FOUND, "The event has no delivery with that deliveryId.")
            if delivery.outcome.is_open:
                raise CallError(
                    Code.ABORTED, "The delivery is still being attempted; wait until it has ended."
                )
            endpoint = settings.of(delivery.endpoint, delivery.url)
            if endpoint and only_at not in (None, endpoint.url):
                endpoint = settings.by_url.get(delivery.url)
            obstacle = obstacle_at(endpoint)
            if endpoint is None or obstacle:
                raise CallError(
                    Code.FAILED_PRECONDITION, _WHAT_TO_CHANGE[obstacle or Obstacle.REMOVED]
                )
            if self.begin(delivery, endpoint, read_at):
                return

    def begin(self, ended: Delivery, endpoint: Subscription, read_at: datetime) -> bool:
        """Record the redelivery and queue its first attempt; False if the delivery has changed.

        The attempts go to the present URL of the `endpoint`, which was read at `read_at`, or later.
        """
        due = self.clock.now() + self.pace.wait(ended.event_id)
        delivery = ended.redelivered(
            due, url=endpoint.url, endpoint=endpoint.id, settings_read_at=read_at
        )
        try:
            self.deliveries.restart(delivery)
        except ChangedMeanwhileError:
            self.pace.take_back(ended.event_id)
            # By another call that wants the same, or by this call, and the answer was lost.
            found = self.deliveries.load(delivery.event_id, delivery.id)
            if not found or not found.is_untried:
                return False
            delivery = found
        self.task_queue.enqueue(attempt_task(delivery))
        return True


def obstacle_at(endpoint: Subscription | None) -> Obstacle | None:
    """Why deliveries to the endpoint cannot be sent again; None where they can."""
    if endpoint is None:
        return Obstacle.REMOVED
    if endpoint.disabled:
        return Obstacle.DISABLED
    try:
        EndpointUrl.parse(endpoint.url)
    except UnusableUrlError:
        return Obstacle.UNUSABLE
    return None


OVERDUE_AFTER: Final = timedelta(minutes=2)
"""How late an attempt may be before its task counts as lost: a busy queue is not a lost task."""

_AT_A_TIME: Final = 100
"""Overdue deliveries that are queued in parallel, before further ones are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """Queues overdue deliveries; a delivery whose task is alive after all is attempted once."""

    deliveries: DeliveryStore
    task_queue: TaskQueue
    in_parallel: InParallel
    clock: Clock

    def sweep(self) -> int:
        """Queue every overdue delivery again; the number of them."""
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


def _swept_task(delivery: Delivery, now: datetime) -> Task:
    """A task of another name, as that of the lost task is taken for a day.

    It changes when the lateness has doubled, so that deliveries that wait in a busy queue get few
    tasks, and two sweeps that overlap make one; and every hour, after which a queue gives up a task
    that fails: what an outage has held up for a day does not wait for another day.
    """
    late = now - (delivery.next_attempt_at or now)
    hours, doublings = late // TASK_TRIED_FOR, (late // OVERDUE_AFTER).bit_length()
    return attempt_task(delivery, suffix=f"-sweep{hours}h" if hours else f"-sweep{doublings}")
