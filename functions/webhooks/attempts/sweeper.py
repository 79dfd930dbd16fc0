"""Finds the deliveries whose task was lost, and queues them again (design 2)."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Final

from functions import log
from functions.clock import Clock
from functions.gcp.task_queue import Enqueue
from functions.parallel import InParallel
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.retry_schedule import SWEEP_PERIOD
from functions.webhooks.deliveries.store import DeliveryStore

OVERDUE_AFTER: Final = timedelta(minutes=2)
"""How late an attempt may be before its task counts as lost: a busy queue is not a lost task."""

_AT_A_TIME: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """Queues overdue deliveries; a delivery whose task is alive after all is attempted once."""

    deliveries: DeliveryStore
    enqueue: Enqueue
    in_parallel: InParallel
    clock: Clock

    def sweep(self) -> int:
        """Queue every overdue delivery again; the number of them."""
        now = self.clock.now()
        # The lost task's name is taken for a day; two sweeps that overlap have the same period.
        suffix = f"-sweep{int(now.timestamp() // SWEEP_PERIOD.total_seconds())}"
        overdue = self.deliveries.overdue(now - OVERDUE_AFTER)
        count = 0
        while page := list(islice(overdue, _AT_A_TIME)):
            self.in_parallel(
                self.enqueue, [attempt_task(delivery, suffix=suffix) for delivery in page]
            )
            count += len(page)
        if count:
            log.warning("deliveries.overdue", count=count)
        return count
