"""Dispatches tasks as Cloud Tasks does: after their due time, within the limits of their queue.

A call without a 2xx response is retried with the queue's backoff. One thread serves all queues.

https://cloud.google.com/tasks/docs/configuring-queues
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from emulator.cloud.cloud_tasks import QueuedTask
from emulator.cloud.http import SUCCESSES
from emulator.provider_models.cloud_tasks import Queue, Rate

Call = Callable[["QueuedTask", int], Awaitable[int]]
"""Calls a task's function and returns the status. The number is the count of earlier calls."""


class _QueueLimits:
    """The limits of one queue."""

    def __init__(self, queue: Queue) -> None:
        self._slots = asyncio.Semaphore(queue.max_concurrent)
        self._rate = Rate(queue.per_second)

    async def acquire(self) -> None:
        """Wait for a free slot, and until the rate limit permits another call."""
        await self._slots.acquire()
        try:
            now = time.monotonic()
            if wait := self._rate.reserve(now) - now:
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            self._slots.release()
            raise

    def release(self) -> None:
        """Free the slot of a call."""
        self._slots.release()


class Dispatcher:
    """Dispatches tasks in the event loop that is running at its creation."""

    def __init__(self, queues: Mapping[str, Queue], call: Call) -> None:
        """Prepare the queues."""
        self._loop = asyncio.get_running_loop()
        self._queues = queues
        self._call = call
        self._limits = {name: _QueueLimits(queue) for name, queue in queues.items()}
        self._canceled: list[Callable[[QueuedTask], bool]] = []
        self._open: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Task[None], QueuedTask] = {}

    def enqueue(self, task: QueuedTask) -> None:
        """Dispatch `task` when it is due. May be called from any thread."""
        self._loop.call_soon_threadsafe(self._begin, task)

    async def is_idle_within(self, seconds: float) -> bool:
        """Wait until no task is left, and return False after `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._open:
                    await asyncio.wait(self._open)
        return not self._open

    def cancel(self, unwanted: Callable[[QueuedTask], bool]) -> None:
        """Drop all waiting and future tasks that `unwanted` selects."""
        self._canceled.append(unwanted)
        for dispatch, task in list(self._waiting.items()):
            if unwanted(task):
                dispatch.cancel()

    def _begin(self, task: QueuedTask) -> None:
        if any(unwanted(task) for unwanted in self._canceled):
            return
        dispatch = asyncio.create_task(self._dispatch(task))
        self._open.add(dispatch)
        dispatch.add_done_callback(self._open.discard)

    async def _dispatch(self, task: QueuedTask) -> None:
        """Call the function until the task is acknowledged, canceled or out of retries."""
        limits, retries = self._limits[task.queue], self._queues[task.queue].retry_policy
        dispatch = asyncio.current_task()
        assert dispatch  # noqa: S101 - this is one
        seconds = task.due - time.time()
        first, calls = 0.0, 0
        while True:
            self._waiting[dispatch] = task
            try:
                await asyncio.sleep(max(seconds, 0))
                await limits.acquire()
            finally:
                del self._waiting[dispatch]
            first = first or time.monotonic()
            try:
                status = await self._call(task, calls)
            finally:
                limits.release()
            calls += 1
            if status in SUCCESSES:
                return
            if retries.is_exhausted(calls, time.monotonic() - first):
                return
            seconds = retries.backoff(calls)
