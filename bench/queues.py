"""Cloud Tasks and Cloud Run between the functions, in a process of their own.

The queues are the local cloud's: they keep their limits and honour when a task is due. As Cloud
Run does, each request goes to the instance that has the fewest, and no instance has more requests
than it has threads.
"""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from httpx import AsyncHTTPTransport

from emulator.cloud import http
from emulator.cloud.api_server import ApiServer
from emulator.cloud.cloud_tasks import CloudTasks, QueuedTask
from emulator.cloud.dispatcher import Dispatcher
from emulator.firebase import PROJECT
from emulator.provider_models.cloud_tasks import Queue, RetryPolicy
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE

MAX_DISPATCHES: Final = 100
"""Of one task, as main.py has it."""

_JSON: Final = {"Content-Type": "application/json"}


class Queues:
    """The queues, once they are started."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = ApiServer(CloudTasks(PROJECT, None, self._take))

    def address(self) -> str:
        """Where Cloud Tasks listens: `host:port`."""
        return self._server.address

    def start(self, ports: Mapping[str, Sequence[int]], threads: int, a_second: float) -> None:
        """Dispatch so many tasks of a queue `a_second`, at most, to its function's instances.

        They have these `ports`, by the queue, and each admits so many requests as `threads`.
        """

        async def make() -> Dispatcher:
            queues = {
                name: Queue(len(instances) * threads, a_second, _retries(name))
                for name, instances in ports.items()
            }
            calls = http.transport()
            services = {name: _Service(calls, each) for name, each in ports.items()}
            return Dispatcher(queues, lambda task, _: services[task.queue].post(task))

        self._queues = asyncio.run_coroutine_threadsafe(make(), self._loop).result()

    def is_idle_within(self, seconds: float) -> bool:
        """Wait until no task is left; False when that takes longer."""
        waiting = self._queues.is_idle_within(seconds)
        return asyncio.run_coroutine_threadsafe(waiting, self._loop).result()

    def forget(self, event_id: str) -> None:
        """Never dispatch tasks of an event, queued now or later."""

        def is_of(task: QueuedTask) -> bool:
            return bool(json.loads(task.body)["data"]["eventId"] == event_id)

        self._loop.call_soon_threadsafe(self._queues.cancel, is_of)

    def _take(self, task: QueuedTask) -> None:
        self._queues.enqueue(task)


def _retries(queue: str) -> RetryPolicy:
    steps = {step.queue: step for step in RETRY_SCHEDULE} | {SLOW_QUEUE: RETRY_SCHEDULE[0]}
    backoff = steps[queue].backoff_seconds
    return RetryPolicy(MAX_DISPATCHES, 0, backoff, backoff, 0)


class _Service:
    """The instances of one function."""

    def __init__(self, calls: AsyncHTTPTransport, ports: Sequence[int]) -> None:
        self._calls = calls
        self._at_work = dict.fromkeys(ports, 0)

    async def post(self, task: QueuedTask) -> int:
        """The status, `NO_RESPONSE` where none came."""
        port = min(self._at_work, key=lambda port: self._at_work[port])
        self._at_work[port] += 1
        try:
            return await http.post(self._calls, port, _JSON, task.body, task.deadline_seconds)
        finally:
            self._at_work[port] -= 1
