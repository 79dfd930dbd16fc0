"""Cloud Tasks and Cloud Run between the functions, in a process of their own.

Takes tasks as the tasks emulator does, which is what the functions speak locally, and dispatches
them as Cloud Tasks does: a name once, nothing before it is due, so many at a time, and again after
the queue's backoff whatever was not answered 2xx. As Cloud Run does, each request goes to the
instance that has the fewest, and none has more than it has threads for.

The emulator's protocol leaves the time at which a task is due out, so a task waits here as long as
its step says. One thread does it all, so that a queue takes little of what the functions need. A
queue's limit of 500 dispatches a second is out of this machine's reach: it holds
where an experiment gives a smaller one.
"""

import asyncio
import base64
import http.client
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from functions.webhooks.deliveries.first_queues import BUSY, ORDINARY, SLOW
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE

MAX_DISPATCHES: Final = 100
"""Of one task, as main.py has it."""

BURST_SECONDS: Final = 0.2
"""Dispatches that a queue may make at once, of its limit: 100 of 500, as Cloud Tasks sets it."""

_ANSWER_SECONDS: Final = 60
_NO_ANSWER: Final = 0
_BACKLOG: Final = 256  # a hundred triggers at the same moment


@dataclass(frozen=True, slots=True)
class Report:
    """What the queues did: dispatches by queue, those answered other than 2xx, tasks given up."""

    dispatches: Mapping[str, int]
    refused: Mapping[str, int]
    given_up: int


@dataclass(frozen=True, slots=True)
class Instances:
    """Ports of the instances of each queue's function, and the requests that each admits.

    A queue makes `a_second` dispatches at most, where that is given.
    """

    ports: Mapping[str, Sequence[int]]
    threads: int
    a_second: float | None = None


@dataclass(frozen=True, slots=True)
class WaitUntilIdle:
    """A question: True once no task is left, False when that takes more than `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Forget:
    """An order: whatever is queued for an event, now or later, is never dispatched."""

    event_id: str


def dispatch(pipe: Connection) -> None:
    """Answers `address`, `report` and the questions above until the pipe is closed."""
    asyncio.run(_dispatch(pipe))


async def _dispatch(pipe: Connection) -> None:
    queues = _Queues()
    server = await asyncio.start_server(queues.serve, "127.0.0.1", 0, backlog=_BACKLOG)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with suppress(EOFError):
        while True:
            match await asyncio.to_thread(pipe.recv):
                case Instances() as instances:
                    queues.start(instances)
                    pipe.send(None)
                case WaitUntilIdle(seconds):
                    pipe.send(await queues.is_idle_within(seconds))
                case Forget(event_id):
                    queues.forget(event_id)
                    pipe.send(None)
                case "report":
                    pipe.send(queues.report())
                case _:
                    pipe.send(address)


class _Service:
    """The instances of one function."""

    def __init__(self, ports: Sequence[int], threads: int, a_second: float | None) -> None:
        self._at_work = dict.fromkeys(ports, 0)
        self._places = asyncio.Semaphore(len(ports) * threads)
        self._a_second = a_second
        self._next = 0.0

    async def admit(self) -> None:
        """Wait for a place, which `post` gives back, and until the queue may dispatch once more."""
        await self._places.acquire()
        try:
            await self._turn()
        except asyncio.CancelledError:
            self._places.release()
            raise

    async def post(self, body: bytes) -> int:
        """The status; 0 where no answer came."""
        port = min(self._at_work, key=lambda one: self._at_work[one])
        self._at_work[port] += 1
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await _post(port, body)
        except (OSError, ValueError, IndexError):
            return _NO_ANSWER
        finally:
            self._at_work[port] -= 1
            self._places.release()

    async def _turn(self) -> None:
        if self._a_second is None:
            return
        now = time.monotonic()
        turn = max(self._next, now - BURST_SECONDS)
        self._next = turn + 1 / self._a_second
        if turn > now:
            await asyncio.sleep(turn - now)


async def _post(port: int, body: bytes) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        answer = await reader.read()
        return int(answer.split(b" ", 2)[1])
    finally:
        writer.close()


class _Queues:
    def __init__(self) -> None:
        self._names: set[str] = set()
        self._forgotten: set[str] = set()
        self._open: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Task[None], str] = {}
        self._dispatches: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._given_up = 0
        self._rungs = {one.queue: one for one in RETRY_SCHEDULE}
        self._rungs |= dict.fromkeys((*ORDINARY, BUSY, SLOW), RETRY_SCHEDULE[0])
        self._services: dict[str, _Service] = {}

    def start(self, instances: Instances) -> None:
        self._services = {
            queue: _Service(ports, instances.threads, instances.a_second)
            for queue, ports in instances.ports.items()
        }

    async def is_idle_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._open:
                    await asyncio.wait(self._open)
        return not self._open

    def forget(self, event_id: str) -> None:
        self._forgotten.add(event_id)
        for way, event in self._waiting.items():
            if event == event_id:
                way.cancel()

    def report(self) -> Report:
        """What was done since the last report."""
        done = Report(self._dispatches, self._refused, self._given_up)
        self._dispatches, self._refused, self._given_up = Counter(), Counter(), 0
        return done

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the task of one request."""
        with suppress(OSError, EOFError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
            request: Any = json.loads(await reader.readexactly(int(length)))
            status = self._take(request["task"])
            writer.write(b"HTTP/1.1 %d -\r\nContent-Length: 0\r\n\r\n" % status)
        writer.close()

    def _take(self, task: Any) -> int:
        name = task["name"]
        if name in self._names:
            return http.client.CONFLICT
        self._names.add(name)
        queue = name.split("/")[-3]
        body = base64.b64decode(task["httpRequest"]["body"])
        event_id = json.loads(body)["data"]["eventId"]
        if event_id not in self._forgotten:
            way = asyncio.create_task(self._dispatch(queue, event_id, body))
            self._open.add(way)
            way.add_done_callback(self._open.discard)
        return http.client.OK

    async def _dispatch(self, queue: str, event_id: str, body: bytes) -> None:
        """One task, until it is acknowledged, given up or forgotten."""
        way = asyncio.current_task()
        assert way
        service, rung = self._services[queue], self._rungs[queue]
        seconds = rung.delay.total_seconds()
        for _ in range(MAX_DISPATCHES):
            if event_id in self._forgotten:
                return
            self._waiting[way] = event_id
            try:
                await asyncio.sleep(seconds)
                await service.admit()
            finally:
                del self._waiting[way]
            status = await service.post(body)
            acknowledged = 200 <= status <= 299
            self._dispatches[queue] += 1
            self._refused[queue] += not acknowledged
            if acknowledged:
                return
            seconds = rung.backoff_seconds
        self._given_up += 1
