"""Cloud Tasks and Cloud Run between the functions, in a process of their own.

The queues are the local cloud's: they keep their limits and honour when a task is due. As Cloud
Run does, each request goes to the instance that has the fewest, and no instance has more requests
than it has threads.
"""

import asyncio
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final

from emulator.cloud import http
from emulator.cloud.api_server import ApiServer
from emulator.cloud.cloud_tasks import CloudTasks, Queued
from emulator.cloud.dispatcher import Dispatcher
from emulator.firebase import PROJECT
from emulator.neighbours.cloud_tasks import Queue, Retries
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE

MAX_DISPATCHES: Final = 100
"""Of one task, as main.py has it."""

A_SECOND: Final = 500.0
"""Dispatches of one queue, as main.py has it."""

_JSON: Final = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Instances:
    """Ports of the instances of each queue's function, and the requests that each admits.

    A queue makes `a_second` dispatches at most.
    """

    ports: Mapping[str, Sequence[int]]
    threads: int
    a_second: float = A_SECOND


@dataclass(frozen=True, slots=True)
class WaitUntilIdle:
    """A question: True once no task is left, False when that takes more than `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Forget:
    """An order: tasks of an event, queued now or later, are never dispatched."""

    event_id: str


def dispatch(pipe: Connection) -> None:
    """Answers `address` and the questions above until the pipe is closed."""
    asyncio.run(_dispatch(pipe))


async def _dispatch(pipe: Connection) -> None:
    dispatcher: Dispatcher | None = None

    def take(task: Queued) -> None:
        assert dispatcher, "a task came before the instances"
        dispatcher.take(task)

    with ApiServer(CloudTasks(PROJECT, None, take)) as server:
        while True:
            try:
                question = await asyncio.to_thread(pipe.recv)
            except EOFError:
                return
            match question, dispatcher:
                case Instances() as instances, _:
                    dispatcher = _dispatcher(instances)
                    pipe.send(None)
                case WaitUntilIdle(seconds), Dispatcher():
                    pipe.send(await dispatcher.is_idle_within(seconds))
                case Forget(event_id), Dispatcher():
                    dispatcher.forget(functools.partial(_is_of, event_id))
                    pipe.send(None)
                case _:
                    pipe.send(server.address)


def _dispatcher(instances: Instances) -> Dispatcher:
    steps = {step.queue: step for step in RETRY_SCHEDULE}
    steps[SLOW_QUEUE] = RETRY_SCHEDULE[0]
    services = {queue: _Service(ports) for queue, ports in instances.ports.items()}
    queues = {}
    for queue, ports in instances.ports.items():
        backoff = steps[queue].backoff_seconds
        retries = Retries(MAX_DISPATCHES, 0, backoff, backoff, 0)
        queues[queue] = Queue(len(ports) * instances.threads, instances.a_second, retries)
    return Dispatcher(queues, lambda task, _: services[task.queue].post(task))


def _is_of(event_id: str, task: Queued) -> bool:
    return bool(json.loads(task.body)["data"]["eventId"] == event_id)


class _Service:
    """The instances of one function."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._at_work = dict.fromkeys(ports, 0)

    async def post(self, task: Queued) -> int:
        """The status, `NO_ANSWER` where none came."""
        port = min(self._at_work, key=lambda port: self._at_work[port])
        self._at_work[port] += 1
        try:
            return await http.post(port, _JSON, task.body, task.deadline_seconds)
        finally:
            self._at_work[port] -= 1
