"""Cloud Tasks and Cloud Run for benchmarks, in a separate process.

The queues are those of the local cloud, with their limits and due times. As in Cloud Run, each
request goes to the instance with the fewest requests, and an instance has at most one request for
each thread.
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
"""Maximum dispatches of a task, as in main.py."""

_JSON: Final = {"Content-Type": "application/json"}


class Queues:
    """The queues, which `start` starts."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = ApiServer(CloudTasks(PROJECT, None, self._enqueue))

    def address(self) -> str:
        """Return the `host:port` of Cloud Tasks."""
        return self._server.address

    def start(self, ports: Mapping[str, Sequence[int]], threads: int, a_second: float) -> None:
        """Start to dispatch.

        Args:
            ports: Ports of the instances, by queue.
            threads: Maximum number of requests of an instance.
            a_second: Maximum rate of a queue.
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
        """Wait until no task is left, and return False after `seconds`."""
        waiting = self._queues.is_idle_within(seconds)
        return asyncio.run_coroutine_threadsafe(waiting, self._loop).result()

    def cancel(self, event_id: str) -> None:
        """Drop all current and future tasks of an event."""

        def is_of(task: QueuedTask) -> bool:
            return bool(json.loads(task.body)["data"]["eventId"] == event_id)

        self._loop.call_soon_threadsafe(self._queues.cancel, is_of)

    def _enqueue(self, task: QueuedTask) -> None:
        self._queues.enqueue(task)


def _retries(queue: str) -> RetryPolicy:
    steps = {step.queue: step for step in RETRY_SCHEDULE} | {SLOW_QUEUE: RETRY_SCHEDULE[0]}
    backoff = steps[queue].backoff_seconds
    return RetryPolicy(MAX_DISPATCHES, 0, backoff, backoff, 0)


class _Service:
    """The instances of one function."""

    def __init__(self, calls: AsyncHTTPTransport, ports: Sequence[int]) -> None:
        self._calls = calls
        self._in_flight = dict.fromkeys(ports, 0)

    async def post(self, task: QueuedTask) -> int:
        """Call an instance and return the status, or `NO_RESPONSE`."""
        port = min(self._in_flight, key=lambda port: self._in_flight[port])
        self._in_flight[port] += 1
        try:
            return await http.post(self._calls, port, _JSON, task.body, task.deadline_seconds)
        finally:
            self._in_flight[port] -= 1
