"""Finds the deliveries whose task was lost, and queues them again (design 2)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from functions import log
from functions.gcp.task_queue import Enqueue
from functions.side_by_side import SideBySide
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.ports import Deliveries
from functions.webhooks.deliveries.retry_schedule import SWEEP_PERIOD

OVERDUE_AFTER: Final = timedelta(minutes=2)
"""How late an attempt may be before its task counts as lost: a busy queue is not a lost task."""

_AT_A_TIME: Final = 100


class Sweeper:
    """Queues what is overdue; a delivery whose task is alive after all is attempted once."""

    def __init__(
        self,
        *,
        deliveries: Deliveries,
        enqueue: Enqueue,
        side_by_side: SideBySide,
        now: Callable[[], datetime],
    ) -> None:
        """`now` gives the time, aware and in UTC."""
        self._side_by_side = side_by_side
        self._deliveries = deliveries
        self._enqueue = enqueue
        self._now = now

    def sweep(self) -> int:
        """Queue every overdue delivery again; how many there were."""
        now = self._now()
        # The name that got lost is taken for a day; the one of this period is the same for two
        # sweeps that overlap.
        again = f"-sweep{int(now.timestamp() // SWEEP_PERIOD.total_seconds())}"
        overdue = self._deliveries.overdue(now - OVERDUE_AFTER)
        count = 0
        while some := list(islice(overdue, _AT_A_TIME)):
            self._side_by_side(
                self._enqueue, [attempt_task(delivery, again=again) for delivery in some]
            )
            count += len(some)
        if count:
            log.warning("deliveries.overdue", count=count)
        return count
