"""What has ended is sent again: four fresh attempts, with the same id and body (design 3)."""

from collections.abc import Callable, Mapping
from datetime import datetime

from functions.call_error import CallError, Code
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.endpoints.endpoint_url import UnusableUrlError
from functions.webhooks.messages.subscriptions import Subscription
from functions.webhooks.ports import (
    ChangedMeanwhileError,
    Deliveries,
    StoredDelivery,
    TaskQueue,
)


class NextRound:
    """Begins the next round of deliveries."""

    def __init__(
        self, deliveries: Deliveries, queue: TaskQueue, now: Callable[[], datetime]
    ) -> None:
        """`now` gives the time, aware and in UTC."""
        self._deliveries = deliveries
        self._queue = queue
        self._now = now

    def begin_one(
        self,
        event_id: str,
        delivery_id: str,
        configured: Mapping[str, Subscription],
        may: Callable[[Delivery], bool] = lambda _: True,
    ) -> None:
        """Begin that of one delivery, if the caller `may`: else it is none of the caller's.

        Raises:
            CallError: `not-found`, `aborted` where the last round has not ended, and
                `failed-precondition` where nothing may or can go to the URL (any more).
        """
        while True:
            stored = self._deliveries.load(event_id, delivery_id)
            if stored is None or not may(stored.delivery):
                raise CallError(Code.NOT_FOUND, "The event has no delivery with that deliveryId.")
            if stored.delivery.outcome.is_open:
                raise CallError(
                    Code.ABORTED, "The delivery is still being attempted; wait until it has ended."
                )
            obstacle = obstacle_to(stored.delivery, configured)
            if obstacle:
                raise CallError(Code.FAILED_PRECONDITION, obstacle)
            if self.begin(stored):
                return

    def begin(self, stored: StoredDelivery) -> bool:
        """Record and queue it; False where something else has happened to the delivery."""
        delivery = stored.delivery.again(self._now())
        try:
            self._deliveries.restart(delivery, stored.version)
        except ChangedMeanwhileError:
            # By another call that wants the same, or by this one, and the answer was lost.
            found = self._deliveries.load(delivery.event_id, delivery.id)
            if not found or not (found.delivery.is_untried and found.delivery.round):
                return False
            delivery = found.delivery
        self._queue.enqueue(attempt_task(delivery))
        return True


def obstacle_to(delivery: Delivery, configured: Mapping[str, Subscription]) -> str | None:
    """Why `delivery` cannot be sent again, and what to change; None where it can."""
    subscription = configured.get(delivery.url)
    if subscription is None:
        return "The delivery's URL is not one of the event's webhook URLs any more; add it first."
    if subscription.disabled:
        return "The delivery's URL is disabled; remove its entry from the settings first."
    try:
        delivery.again(delivery.created_at)
    except UnusableUrlError as unusable:
        return f"The delivery was skipped and would be again: {unusable}."
    return None
