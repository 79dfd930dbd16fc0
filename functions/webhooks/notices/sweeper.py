"""Queues the looks at the watched URLs of every event when they are due (design 3.33)."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from functions.gcp.task_queue import Enqueue
from functions.side_by_side import SideBySide
from functions.webhooks.deliveries.retry_schedule import SWEEP_PERIOD
from functions.webhooks.notices.look_task import look_task
from functions.webhooks.notices.ports import Notices

AT_MOST: Final = 1000
"""Events of one sweep; the longest overdue come first, and the next sweep goes on."""


class NoticeSweeper:
    """Queues a look at each event that is due; how often it comes does not matter."""

    def __init__(
        self,
        *,
        notices: Notices,
        enqueue: Enqueue,
        side_by_side: SideBySide,
        now: Callable[[], datetime],
    ) -> None:
        """`now` gives the time, aware and in UTC."""
        self._notices = notices
        self._enqueue = enqueue
        self._side_by_side = side_by_side
        self._now = now

    def sweep(self) -> int:
        """Queue the looks that are due; the number of them."""
        now = self._now()
        # One name in a period: two sweeps that overlap queue a look once.
        period = int(now.timestamp() // SWEEP_PERIOD.total_seconds())
        due = self._notices.due(now, AT_MOST)
        self._side_by_side(
            self._enqueue, [look_task(event_id, now, suffix=f"-{period}") for event_id in due]
        )
        return len(due)
