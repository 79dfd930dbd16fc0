"""Floods beside healthy events, in real processes.

The receivers of half of the healthy events acknowledge, those of the other half refuse each first
attempt and acknowledge the second. The median and the 99th percentile of their latency are to be
within 1.5 times their values alone: from the write, as the trigger gets it, to the first POST, and
from the first POST to the second. An attempt that does not come is late for ever.

The functions are real processes, receivers speak TLS, and Cloud Tasks and Cloud Run are
`queues.py`. Two cores do the work of a region, hence a twentieth of everything that is counted: a
queue starts 25 of 500 tasks a second, an instance of the trigger makes 4 of 80 deliveries of busy
events due, a flood makes 30 deliveries for 600, and a healthy event has an upload each ten seconds
for two a second. A twentieth of fifty tenants is too little to measure: they are in `flood`.

Turns are short and come round again, so that what else the machine does falls on all alike. Each
turn's floods are new events, which no worker knows to be slow; each kind of turn has instances of
the trigger of its own, whose backlog has ended when the next such turn comes. The healthy events
have their uploads at the same moments in all turns of a round. The floods' own processes get the
CPU that the others leave.
"""

import json
import math
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import mean, median
from typing import Any, Final

import psutil
from google.cloud import firestore

from bench.figures import Row, latencies, p99
from bench.firestore import own_firestore
from bench.queues import Queues
from bench.turns import make_way, peer
from emulator import certificates
from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.cloud.firestore_write import FirestoreWrite
from emulator.cloud.function_process import ENTRY, FunctionProcess
from emulator.receiver import Receiver, always, fails, slow
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE

AIM: Final = 1.5
ROUNDS: Final = 4
TURN_SECONDS: Final = 24.0
WARM_UP_SECONDS: Final = 6.0
HEALTHY_EVENTS: Final = 20
UPLOADS_A_SECOND: Final = 2
"""Of all healthy events together."""
URLS: Final = 20
FLOOD_DELIVERIES_A_SECOND: Final = 30

THREADS: Final = 40
INSTANCES: Final = 2
DISPATCHES_A_SECOND: Final = 25
EVENT_A_SECOND: Final = 4
NO_PACE: Final = 1_000_000

SILENT_SECONDS: Final = 6.0
"""Longer than an attempt waits."""

GRACE_SECONDS: Final = 3.0
"""After the last write of a turn."""

_UNDISTURBED: Final = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MetaspaceSize=256m"),
    *("-Xms2304m", "-Xmn2g", "-XX:+AlwaysPreTouch"),
)
"""A Firestore that seldom compiles or collects: its pauses would be everybody's."""

_STARTING: Final = 4
_IN_FLIGHT: Final = 100
_IDLE_SECONDS: Final = 60.0
_GOOD, _FLAKY = "/good", "/flaky"


@dataclass(frozen=True, slots=True)
class Turn:
    """The healthy events have the flood of a tenant with so many `events` beside them.

    Its receivers time out. An instance of the trigger makes `a_second` deliveries of busy tenants
    due in a second.
    """

    name: str
    events: int = 1
    a_second: int = EVENT_A_SECOND


ALONE: Final = Turn("alone", events=0)
TURNS: Final = (
    ALONE,
    Turn("an event"),
    Turn("200 events of one tenant", events=10),
    Turn("1,000 events of one tenant", events=50),
    Turn("an event; no pace", a_second=NO_PACE),
)


@dataclass(slots=True)
class Found:
    """What one kind of turn came to: seconds of first and of second attempts."""

    first: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)


def rows() -> Iterator[Row]:
    """First and second attempts of the healthy events, beside each kind of flood."""
    certificates.ensure()
    found = {turn: Found() for turn in TURNS}
    with ExitStack() as stack:
        stack.enter_context(own_firestore(*_UNDISTURBED))
        wall = Wall(stack)
        for number in range(ROUNDS + 1):
            for turn in TURNS:
                seconds = TURN_SECONDS if number else WARM_UP_SECONDS
                chance = random.Random(number)  # noqa: S311 - chance, not a secret
                first, second, busy = wall.take(turn, seconds, chance)
                if number:
                    found[turn].first += first
                    found[turn].second += second
                    found[turn].busy.append(busy)
    yield from _rows(found)


class Wall:
    """The running functions, queues and receivers."""

    def __init__(self, stack: ExitStack) -> None:
        self._db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
        self._healthy = stack.enter_context(peer(Healthy))
        silent = stack.enter_context(peer(Silent))
        self._queues = stack.enter_context(peer(Queues))
        self._silent_urls: Sequence[str] = silent.urls()
        common = {ADDRESS_VARIABLE: self._queues.address(), "THREADS": str(THREADS)}
        names = [step.queue for step in RETRY_SCHEDULE] + [SLOW_QUEUE]
        with ThreadPoolExecutor(_STARTING) as threads:
            workers = [
                (name, threads.submit(FunctionProcess, name, source=ENTRY, **common))
                for name in names
                for _ in range(INSTANCES)
            ]
            triggers = [
                (turn, threads.submit(_trigger, common[ADDRESS_VARIABLE], turn.a_second))
                for turn in TURNS
                for _ in range(INSTANCES)
            ]
        for _, started in (*workers, *triggers):
            if started.exception() is None:
                stack.callback(started.result().kill)
        ports: dict[str, list[int]] = {}
        for name, started in workers:
            ports.setdefault(name, []).append(started.result().port)
            if name in names[2:]:
                make_way(started.result().pid)
        self._triggers: dict[Turn, list[FunctionProcess]] = {turn: [] for turn in TURNS}
        for turn, started in triggers:
            self._triggers[turn].append(started.result())
        self._at_work = {turn: [0] * INSTANCES for turn in TURNS}
        self._choosing = threading.Lock()
        self._queues.start(ports, THREADS, DISPATCHES_A_SECOND)
        urls: Mapping[str, str] = self._healthy.urls()
        self._healthy_paths = {
            event_id: path
            for _ in range(HEALTHY_EVENTS // 2)
            for path in (_GOOD, _FLAKY)
            for event_id in self._events(1, [urls[path]])
        }

    def take(
        self, turn: Turn, seconds: float, chance: random.Random
    ) -> tuple[list[float], list[float], float]:
        """One turn of so many `seconds`; `chance` says when in its time an upload comes.

        Returns:
            Seconds of first attempts; of second attempts; per cent of CPU that were busy.
        """
        flood = self._events(turn.events, self._silent_urls)
        healthy = list(self._healthy_paths)
        sent: dict[str, tuple[str, float]] = {}

        def upload(event_id: str, number: int, at: float) -> None:
            photo_id = f"p{uuid.uuid4().hex}"
            written = self._written(event_id, photo_id)
            time.sleep(max(at - time.monotonic(), 0))
            if event_id in self._healthy_paths:
                sent[photo_id] = self._healthy_paths[event_id], time.monotonic()
            status = self._triggered(turn, number, written)
            assert status == 200, status

        psutil.cpu_percent()  # from now on
        began = time.monotonic() + 0.1
        every: list[tuple[str, int, float]] = []
        for number in range(int(seconds * UPLOADS_A_SECOND)):
            at = (number + chance.random()) / UPLOADS_A_SECOND
            every.append((healthy[number % len(healthy)], number, began + at))
        for number in range(int(seconds * FLOOD_DELIVERIES_A_SECOND / URLS) if flood else 0):
            at = (number + chance.random()) * URLS / FLOOD_DELIVERIES_A_SECOND
            every.append((flood[number % len(flood)], number, began + at))
        every.sort(key=lambda planned: planned[2])
        with ThreadPoolExecutor(_IN_FLIGHT) as threads:
            for done in [threads.submit(upload, *planned) for planned in every]:
                done.result()
        busy = psutil.cpu_percent()
        time.sleep(GRACE_SECONDS)
        arrived: Mapping[str, Sequence[float]] = self._healthy.arrived()
        for event_id in flood:
            self._queues.forget(event_id)
        if not self._queues.is_idle_within(_IDLE_SECONDS):
            sys.exit(f"noisy-neighbors: deliveries have not ended after {_IDLE_SECONDS:.0f} s")
        first, second = [], []
        for photo_id, (path, at) in sent.items():
            attempts = [*arrived.get(photo_id, []), math.inf, math.inf]
            first.append(attempts[0] - at)
            if path == _FLAKY:
                second.append(attempts[1] - min(attempts[0], time.monotonic()))
        return first, second, busy

    def _triggered(self, turn: Turn, number: int, written: FirestoreWrite) -> int | None:
        """Hand a write to the instance with the fewest, as Cloud Run does; equals take turns."""
        triggers, at_work = self._triggers[turn], self._at_work[turn]
        with self._choosing:
            chosen = min(
                range(INSTANCES), key=lambda index: (at_work[index], (index + number) % INSTANCES)
            )
            at_work[chosen] += 1
        try:
            return triggers[chosen].send_write(written)
        finally:
            with self._choosing:
                at_work[chosen] -= 1

    def _events(self, count: int, urls: Sequence[str]) -> Sequence[str]:
        """The ids of so many new events of a new tenant."""
        group, batch = uuid.uuid4().hex[:8], self._db.batch()
        entries = [{"url": url, "events": ["photo.uploaded"]} for url in urls]
        for number in range(count):
            event = self._db.document("events", f"{group}-{number}")
            batch.set(event, {"tenantId": group, "name": "Party", "status": "published"})
            batch.set(event.collection("settings").document("webhooks"), {"urls": entries})
        batch.commit()
        return [f"{group}-{number}" for number in range(count)]

    def _written(self, event_id: str, photo_id: str) -> FirestoreWrite:
        fields = {
            "status": "pending",
            "url": f"https://example.com/{photo_id}.jpg",
            "uploaderName": "Ann",
            "createdAt": datetime.now(UTC),
        }
        path = f"events/{event_id}/photos/{photo_id}"
        return FirestoreWrite(self._db, path, event_id=f"{event_id}-{photo_id}", after=fields)


def _trigger(address: str, pace: int) -> FunctionProcess:
    environment: Any = {ADDRESS_VARIABLE: address, "EVENT_DELIVERIES_A_SECOND": str(pace)}
    return FunctionProcess("onPhotoWritten", is_trigger=True, **environment)


class Healthy:
    """The receivers that answer."""

    def __init__(self) -> None:
        self._scripts = {_GOOD: always(), _FLAKY: fails(1)}
        self._receiver = Receiver(certificates.SERVER, scripts=self._scripts)

    def urls(self) -> Mapping[str, str]:
        """Their URLs by path."""
        return {path: self._receiver.url(path) for path in self._scripts}

    def arrived(self) -> Mapping[str, Sequence[float]]:
        """When requests arrived, by photo."""
        arrived: dict[str, list[float]] = {}
        for request in self._receiver.requests:
            photo_id = json.loads(request.body)["data"]["photo"]["id"]
            arrived.setdefault(photo_id, []).append(request.monotonic)
        return arrived


class Silent:
    """Receivers that read, and answer long after everybody has gone."""

    def __init__(self) -> None:
        make_way(os.getpid())
        scripts = {f"/{number}": slow(SILENT_SECONDS) for number in range(URLS)}
        self._receiver = Receiver(certificates.SERVER, scripts=scripts)

    def urls(self) -> Sequence[str]:
        """Their URLs."""
        return [self._receiver.url(f"/{number}") for number in range(URLS)]


def _rows(found: Mapping[Turn, Found]) -> Iterator[Row]:
    for turn, of_turn in found.items():
        for name in ("first", "second"):
            seconds: list[float] = getattr(of_turn, name)
            alone: list[float] = getattr(found[ALONE], name)
            times = median(seconds) / median(alone), p99(seconds) / p99(alone)
            yield Row(
                f"{name} attempts beside: {turn.name}",
                f"{latencies(seconds)} of {len(seconds)}",
                f"{AIM} times alone",
                f"{times[0]:.2f}, {times[1]:.2f} times; CPU {mean(of_turn.busy):.0f} %",
            )
