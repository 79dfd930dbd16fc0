"""Finds the deliveries whose task was lost, and queues them again (design 2)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from functions import log
from functions.outside import Clock, InParallel, Task, TaskQueue
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.queues import attempt_task

OVERDUE_AFTER: Final = timedelta(minutes=2)
"""How late an attempt may be before its task counts as lost: a busy queue is not a lost task."""

_AT_A_TIME: Final = 100


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
    tasks, and two sweeps that overlap make one.
    """
    late = now - (delivery.next_attempt_at or now)
    return attempt_task(delivery, suffix=f"-sweep{(late // OVERDUE_AFTER).bit_length()}")
