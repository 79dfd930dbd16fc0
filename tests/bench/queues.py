"""Cloud Tasks and Cloud Run between the functions, in a process of their own.

Takes tasks as the tasks emulator does, which is what the functions speak locally, and dispatches
them as Cloud Tasks does: a name once, nothing before it is due, so many at a time, and again after
the queue's backoff whatever was not answered 2xx. As Cloud Run does, each request goes to the
instance that has the fewest, and none has more than it has threads for.

The emulator's protocol leaves the time at which a task is due out, so a task waits here as long as
its step says. A queue's limit of 500 dispatches a second is out of this machine's reach: it holds
where an experiment gives a smaller one.
"""

import base64
import heapq
import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any, Final

from functions.webhooks.deliveries.first_queues import ORDINARY, SLOW
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE

MAX_DISPATCHES: Final = 100
"""Of one task, as main.py has it."""

BURST_SECONDS: Final = 0.2
"""Dispatches that a queue may make at once, of its limit: 100 of 500, as Cloud Tasks sets it."""

_ANSWER_SECONDS: Final = 60
_NO_ANSWER: Final = 0


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
    queues = _Queues()
    with suppress(EOFError):
        while True:
            match pipe.recv():
                case Instances() as instances:
                    queues.start(instances)
                    pipe.send(None)
                case WaitUntilIdle(seconds):
                    pipe.send(queues.is_idle_within(seconds))
                case Forget(event_id):
                    queues.forget(event_id)
                    pipe.send(None)
                case "report":
                    pipe.send(queues.report())
                case _:
                    pipe.send(queues.address)
    queues.stop()


@dataclass(frozen=True, slots=True)
class _Task:
    queue: str
    event_id: str
    body: bytes
    dispatched: int = 0


class _Service:
    """The instances of one function."""

    def __init__(self, ports: Sequence[int], threads: int, a_second: float | None) -> None:
        self._lock = threading.Lock()
        self._at_work = dict.fromkeys(ports, 0)
        self._a_second = a_second
        self._next = 0.0
        self.pool = ThreadPoolExecutor(len(ports) * threads)

    def wait_for_turn(self) -> None:
        """Wait until the queue may dispatch once more."""
        if self._a_second is None:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now - BURST_SECONDS)
            self._next = turn + 1 / self._a_second
        time.sleep(max(turn - now, 0))

    def post(self, body: bytes) -> int:
        """The status; 0 where no answer came."""
        with self._lock:
            port = min(self._at_work, key=lambda one: self._at_work[one])
            self._at_work[port] += 1
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return _NO_ANSWER
        else:
            return answer.status
        finally:
            connection.close()
            with self._lock:
                self._at_work[port] -= 1


class _Queues:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._names: set[tuple[str, str]] = set()
        self._forgotten: set[str] = set()
        self._open = 0
        self._waiting: list[tuple[float, int, _Task]] = []
        self._order = itertools.count()
        self._dispatches: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._given_up = 0
        self._stopped = False
        self._rungs = {one.queue: one for one in RETRY_SCHEDULE}
        self._rungs |= dict.fromkeys((*ORDINARY, SLOW), RETRY_SCHEDULE[0])
        self._services: dict[str, _Service] = {}
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        threading.Thread(target=self._release, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def start(self, instances: Instances) -> None:
        self._services = {
            queue: _Service(ports, instances.threads, instances.a_second)
            for queue, ports in instances.ports.items()
        }

    def stop(self) -> None:
        """Dispatch nothing more; what is on its way ends with the instance that has it."""
        with self._changed:
            self._stopped = True
        for one in self._services.values():
            one.pool.shutdown(wait=False, cancel_futures=True)

    def is_idle_within(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    def forget(self, event_id: str) -> None:
        with self._changed:
            self._forgotten.add(event_id)
            left = [entry for entry in self._waiting if entry[2].event_id != event_id]
            self._open -= len(self._waiting) - len(left)
            self._waiting = left
            heapq.heapify(left)
            self._changed.notify_all()

    def report(self) -> Report:
        """What was done since the last report."""
        with self._changed:
            done = Report(self._dispatches, self._refused, self._given_up)
            self._dispatches, self._refused, self._given_up = Counter(), Counter(), 0
            return done

    def take(self, queue: str, name: str, body: bytes) -> int:
        """The status that the enqueuer gets."""
        with self._changed:
            if (queue, name) in self._names:
                return http.client.CONFLICT
            self._names.add((queue, name))
            self._open += 1
        event_id = json.loads(body)["data"]["eventId"]
        self._queue(_Task(queue, event_id, body), self._rungs[queue].delay.total_seconds())
        return http.client.OK

    def _queue(self, task: _Task, seconds: float) -> None:
        with self._changed:
            if self._stopped:
                return
            if task.event_id in self._forgotten:
                self._open -= 1
                self._changed.notify_all()
                return
            if not seconds:
                self._services[task.queue].pool.submit(self._dispatch, task)
                return
            entry = (time.monotonic() + seconds, next(self._order), task)
            heapq.heappush(self._waiting, entry)
            self._changed.notify_all()

    def _release(self) -> None:
        """Hand out what has become due, for ever."""
        while True:
            with self._changed:
                left = self._waiting[0][0] - time.monotonic() if self._waiting else None
                if left is None or left > 0:
                    self._changed.wait(left)
                    continue
                _, _, task = heapq.heappop(self._waiting)
            self._queue(task, 0)

    def _dispatch(self, task: _Task) -> None:
        service = self._services[task.queue]
        with self._changed:
            if task.event_id in self._forgotten:
                self._open -= 1
                self._changed.notify_all()
                return
        service.wait_for_turn()
        status = service.post(task.body)
        acknowledged = 200 <= status <= 299
        given_up = not acknowledged and task.dispatched + 1 >= MAX_DISPATCHES
        with self._changed:
            self._dispatches[task.queue] += 1
            self._refused[task.queue] += not acknowledged
            self._given_up += given_up
            if acknowledged or given_up:
                self._open -= 1
                self._changed.notify_all()
                return
        again = replace(task, dispatched=task.dispatched + 1)
        self._queue(again, self._rungs[task.queue].backoff_seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # a hundred triggers at the same moment


def _handler(queues: _Queues) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            task = request["task"]
            body = base64.b64decode(task["httpRequest"]["body"])
            queue = self.path.split("/")[-2]
            status = queues.take(queue, task["name"].rpartition("/")[2], body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler
