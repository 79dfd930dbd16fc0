"""How Cloud Tasks dispatches: not before a task is due, within the limits of its queue, and again.

A call that is not answered 2xx is repeated with the queue's backoff. One thread serves all queues.

https://cloud.google.com/tasks/docs/configuring-queues
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from emulator.cloud.cloud_tasks import Queued
from emulator.cloud.http import SUCCESSES
from emulator.provider_models.cloud_tasks import Queue, Rate

Call = Callable[["Queued", int], Awaitable[int]]
"""Calls a task's function; given the calls made before, returns the status."""


class _Turns:
    """The limits of one queue."""

    def __init__(self, queue: Queue) -> None:
        self._places = asyncio.Semaphore(queue.at_a_time)
        self._rate = Rate(queue.a_second)

    async def take(self) -> None:
        """Wait for a place, to be given back, and until the queue may call once more."""
        await self._places.acquire()
        try:
            now = time.monotonic()
            if wait := self._rate.begin(now) - now:
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            self._places.release()
            raise

    def give_back(self) -> None:
        """Let another call begin."""
        self._places.release()


class Dispatcher:
    """Dispatches tasks in the event loop that it is made in."""

    def __init__(self, queues: Mapping[str, Queue], call: Call) -> None:
        """Dispatch nothing yet."""
        self._loop = asyncio.get_running_loop()
        self._queues = queues
        self._call = call
        self._turns = {name: _Turns(queue) for name, queue in queues.items()}
        self._forgotten: list[Callable[[Queued], bool]] = []
        self._open: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Task[None], Queued] = {}

    def take(self, task: Queued) -> None:
        """Dispatch `task` when it is due; called from any thread."""
        self._loop.call_soon_threadsafe(self._begin, task)

    async def is_idle_within(self, seconds: float) -> bool:
        """Wait until no task is left; False when that takes longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._open:
                    await asyncio.wait(self._open)
        return not self._open

    def forget(self, unwanted: Callable[[Queued], bool]) -> None:
        """Never call again for the `unwanted` tasks, those to come included."""
        self._forgotten.append(unwanted)
        for way, task in list(self._waiting.items()):
            if unwanted(task):
                way.cancel()

    def _begin(self, task: Queued) -> None:
        if any(unwanted(task) for unwanted in self._forgotten):
            return
        way = asyncio.create_task(self._dispatch(task))
        self._open.add(way)
        way.add_done_callback(self._open.discard)

    async def _dispatch(self, task: Queued) -> None:
        """Call until the task is acknowledged, given up or forgotten."""
        turns, retries = self._turns[task.queue], self._queues[task.queue].retries
        way = asyncio.current_task()
        assert way  # noqa: S101 - this is one
        seconds = task.due - time.time()
        first, calls = 0.0, 0
        while True:
            self._waiting[way] = task
            try:
                await asyncio.sleep(max(seconds, 0))
                await turns.take()
            finally:
                del self._waiting[way]
            first = first or time.monotonic()
            try:
                status = await self._call(task, calls)
            finally:
                turns.give_back()
            calls += 1
            if status in SUCCESSES:
                return
            if retries.give_up(calls, time.monotonic() - first):
                return
            seconds = retries.backoff(calls)
