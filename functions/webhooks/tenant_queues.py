"""Puts each first attempt on the queue of its tenant, or one of several (design 2).

What an event owes beyond its share goes to the queue of busy events at once: a queue makes so many
dispatches a second, and a worker that sends a task on has used one up. It is not the queue of slow
receivers, who would hold up the event's prompt ones there.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from functions import log
from functions.gcp.task_queue import Task
from functions.recent import Recent
from functions.webhooks.deliveries.first_queues import BUSY, ORDINARY, spread
from functions.webhooks.ports import TaskQueue, Wall

REMEMBERED_SECONDS: Final = 3600.0
"""An event never changes its tenant; only a deleted one can come back as another's."""

_REMEMBERED: Final = 10_000
_PATIENCE_SECONDS: Final = 1.0

BURST_SECONDS: Final = 0.75
"""An event may owe the share of so many seconds at once, where it owed little before.

A queue makes 100 dispatches at once, then one every 2 ms: 37 of an instance's 50 leave it some.
"""


class TenantQueues:
    """A `ports.TaskQueue` above another; one instance serves all threads of the process.

    Which tenant an event has costs one read, the first time that a process queues for the event
    and once an hour from then on.
    """

    def __init__(
        self,
        queue: TaskQueue,
        *,
        wall: Wall,
        queues: int,
        a_tenant: int,
        a_second: int,
        monotonic: Callable[[], float],
    ) -> None:
        """Spread over some queues.

        Args:
            queue: Takes the tasks.
            wall: Tells whose an event is.
            queues: How many of those there are.
            a_tenant: How many of them a tenant has.
            a_second: First attempts of one event that this process puts there a second.
            monotonic: Seconds that only grow.
        """
        self._queue = queue
        self._wall = wall
        self._queues = max(1, min(queues, len(ORDINARY)))
        self._a_tenant = a_tenant
        self._tenants: Recent[str, str] = Recent(
            seconds=REMEMBERED_SECONDS, at_most=_REMEMBERED, monotonic=monotonic
        )
        self._looking = threading.Lock()
        self._step = 1 / max(1, a_second)
        self._monotonic = monotonic
        self._next: Recent[str, float] = Recent(
            seconds=BURST_SECONDS + 1, at_most=_REMEMBERED, monotonic=monotonic
        )
        self._counting = threading.Lock()

    def enqueue(self, task: Task) -> None:
        """See `ports.TaskQueue`."""
        if task.queue == ORDINARY[0]:
            task = self._placed(task, str(task.data["eventId"]))
        self._queue.enqueue(task)

    def _placed(self, task: Task, event_id: str) -> Task:
        if not self._is_within_share(event_id):
            return replace(task, queue=BUSY)
        if self._queues == 1:
            return task
        return spread(task, self._tenant(event_id), self._queues, self._a_tenant)

    def _is_within_share(self, event_id: str) -> bool:
        with self._counting:
            now = self._monotonic()
            earliest = now - BURST_SECONDS + self._step
            even = max(self._next.get(event_id) or earliest, earliest)  # if they came evenly
            if even > now:
                return False
            self._next.put(event_id, value=even + self._step)
        return True

    def _tenant(self, event_id: str) -> str:
        known = self._tenants.get(event_id)
        if known is not None:
            return known
        # The tasks of one write come together: one of them looks, unless that takes too long.
        mine = self._looking.acquire(timeout=_PATIENCE_SECONDS)
        try:
            return self._tenants.get(event_id) or self._look_up(event_id)
        finally:
            if mine:
                self._looking.release()

    def _look_up(self, event_id: str) -> str:
        """The event's tenant; the event itself where it has none, or cannot be read now."""
        try:
            tenant = (self._wall.event(event_id) or {}).get("tenantId")
        except Exception as error:  # noqa: BLE001 - any queue is better than none
            log.warning("tenant.not-read", eventId=event_id, exception=type(error).__name__)
            return event_id
        share = tenant if isinstance(tenant, str) and tenant else event_id
        self._tenants.put(event_id, value=share)
        return share
