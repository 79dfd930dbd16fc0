"""Latency of healthy events during floods, with real processes.

Half of the healthy events have a receiver that acknowledges. The others have a receiver that
rejects each first attempt and acknowledges the second. Two latencies are measured: from the
trigger's call to the first POST, and from the first POST to the second. Their median and 99th
percentile must stay below 1.5 times the values without a flood. A missing attempt counts as
infinitely late.

The functions are real processes, receivers use TLS, and `queues.py` simulates Cloud Tasks and Cloud
Run. Because two cores do the work of a region, all numbers are divided by twenty: a queue starts 25
instead of 500 tasks a second, an instance of the trigger makes 4 instead of 80 deliveries of busy
events due, a flood has 30 instead of 600 deliveries a second, and a healthy event has an upload
every ten seconds instead of two a second. A twentieth of fifty tenants is too little to measure:
`flood` simulates them.

The turns are short and repeat, so that other load of the machine affects all of them. Each turn's
floods are new events, whose receivers no worker knows. Each kind of turn has separate instances of
the trigger, whose backlog has ended before the next turn of this kind. The uploads of the healthy
events have the same times in all turns of a round. The floods' processes have the lowest priority.
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
from bench.processes import lower_priority, peer
from bench.queues import Queues
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
UNLIMITED: Final = 1_000_000

SILENT_SECONDS: Final = 6.0
"""Longer than the timeout of an attempt."""

GRACE_SECONDS: Final = 3.0
"""After the last write of a turn."""

_UNDISTURBED: Final = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MetaspaceSize=256m"),
    *("-Xms2304m", "-Xmn2g", "-XX:+AlwaysPreTouch"),
)
"""Java's options for a Firestore emulator with few pauses, which would delay every process."""

_STARTING: Final = 4
_IN_FLIGHT: Final = 100
_IDLE_SECONDS: Final = 60.0
_GOOD, _FLAKY = "/good", "/flaky"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn with a flood of a tenant that has `events` events. Its receivers time out.

    An instance of the trigger makes `a_second` deliveries of busy tenants due in a second.
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
    Turn("an event; no fair queue", a_second=UNLIMITED),
)


@dataclass(slots=True)
class Latencies:
    """Latencies of first and second attempts in seconds, and the CPU use of each turn."""

    first: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)


def rows() -> Iterator[Row]:
    """Measure first and second attempts of the healthy events during each kind of flood."""
    certificates.ensure()
    found = {turn: Latencies() for turn in TURNS}
    with ExitStack() as stack:
        stack.enter_context(own_firestore(*_UNDISTURBED))
        wall = Wall(stack)
        for number in range(ROUNDS + 1):
            for turn in TURNS:
                seconds = TURN_SECONDS if number else WARM_UP_SECONDS
                chance = random.Random(number)  # noqa: S311 - chance, not a secret
                first, second, busy = wall.run(turn, seconds, chance)
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
                lower_priority(started.result().pid)
        self._triggers: dict[Turn, list[FunctionProcess]] = {turn: [] for turn in TURNS}
        for turn, started in triggers:
            self._triggers[turn].append(started.result())
        self._in_flight = {turn: [0] * INSTANCES for turn in TURNS}
        self._choosing = threading.Lock()
        self._queues.start(ports, THREADS, DISPATCHES_A_SECOND)
        urls: Mapping[str, str] = self._healthy.urls()
        self._healthy_paths = {
            event_id: path
            for _ in range(HEALTHY_EVENTS // 2)
            for path in (_GOOD, _FLAKY)
            for event_id in self._events(1, [urls[path]])
        }

    def run(
        self, turn: Turn, seconds: float, chance: random.Random
    ) -> tuple[list[float], list[float], float]:
        """Run a turn of `seconds`. `chance` shifts each upload within its interval.

        Returns:
            The latencies of first attempts and of second attempts in seconds, and the CPU use in
            percent.
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
            status = self._call_trigger(turn, number, written)
            assert status == 200, status

        psutil.cpu_percent()  # starts the measurement
        started = time.monotonic() + 0.1
        uploads: list[tuple[str, int, float]] = []
        for number in range(int(seconds * UPLOADS_A_SECOND)):
            at = (number + chance.random()) / UPLOADS_A_SECOND
            uploads.append((healthy[number % len(healthy)], number, started + at))
        for number in range(int(seconds * FLOOD_DELIVERIES_A_SECOND / URLS) if flood else 0):
            at = (number + chance.random()) * URLS / FLOOD_DELIVERIES_A_SECOND
            uploads.append((flood[number % len(flood)], number, started + at))
        uploads.sort(key=lambda planned: planned[2])
        with ThreadPoolExecutor(_IN_FLIGHT) as threads:
            for future in [threads.submit(upload, *planned) for planned in uploads]:
                future.result()
        busy = psutil.cpu_percent()
        time.sleep(GRACE_SECONDS)
        arrived: Mapping[str, Sequence[float]] = self._healthy.arrived()
        for event_id in flood:
            self._queues.cancel(event_id)
        if not self._queues.is_idle_within(_IDLE_SECONDS):
            sys.exit(f"noisy-neighbors: deliveries have not ended after {_IDLE_SECONDS:.0f} s")
        first, second = [], []
        for photo_id, (path, at) in sent.items():
            attempts = [*arrived.get(photo_id, []), math.inf, math.inf]
            first.append(attempts[0] - at)
            if path == _FLAKY:
                second.append(attempts[1] - min(attempts[0], time.monotonic()))
        return first, second, busy

    def _call_trigger(self, turn: Turn, number: int, written: FirestoreWrite) -> int | None:
        """Call the instance with the fewest requests, as Cloud Run does.

        Instances with the same number of requests are called in turn.
        """
        triggers, in_flight = self._triggers[turn], self._in_flight[turn]
        with self._choosing:
            chosen = min(
                range(INSTANCES), key=lambda index: (in_flight[index], (index + number) % INSTANCES)
            )
            in_flight[chosen] += 1
        try:
            return triggers[chosen].send_write(written)
        finally:
            with self._choosing:
                in_flight[chosen] -= 1

    def _events(self, count: int, urls: Sequence[str]) -> Sequence[str]:
        """Create `count` events of a new tenant and return their IDs."""
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


def _trigger(address: str, rate: int) -> FunctionProcess:
    environment: Any = {ADDRESS_VARIABLE: address, "EVENT_DELIVERIES_A_SECOND": str(rate)}
    return FunctionProcess("onPhotoWritten", is_trigger=True, **environment)


class Healthy:
    """The receivers of healthy events."""

    def __init__(self) -> None:
        self._scripts = {_GOOD: always(), _FLAKY: fails(1)}
        self._receiver = Receiver(certificates.SERVER, scripts=self._scripts)

    def urls(self) -> Mapping[str, str]:
        """Return their URLs by path."""
        return {path: self._receiver.url(path) for path in self._scripts}

    def arrived(self) -> Mapping[str, Sequence[float]]:
        """Return the arrival times of requests by photo."""
        arrived: dict[str, list[float]] = {}
        for request in self._receiver.requests:
            photo_id = json.loads(request.body)["data"]["photo"]["id"]
            arrived.setdefault(photo_id, []).append(request.monotonic)
        return arrived


class Silent:
    """Receivers that read the request and answer after the sender's timeout."""

    def __init__(self) -> None:
        lower_priority(os.getpid())
        scripts = {f"/{number}": slow(SILENT_SECONDS) for number in range(URLS)}
        self._receiver = Receiver(certificates.SERVER, scripts=scripts)

    def urls(self) -> Sequence[str]:
        """Return their URLs."""
        return [self._receiver.url(f"/{number}") for number in range(URLS)]


def _rows(found: Mapping[Turn, Latencies]) -> Iterator[Row]:
    for turn, of_turn in found.items():
        for name in ("first", "second"):
            seconds: list[float] = getattr(of_turn, name)
            alone: list[float] = getattr(found[ALONE], name)
            times = median(seconds) / median(alone), p99(seconds) / p99(alone)
            yield Row(
                f"{name} attempts, flood: {turn.name}",
                f"{latencies(seconds)} of {len(seconds)}",
                f"{AIM} times without",
                f"{times[0]:.2f}, {times[1]:.2f} times; CPU {mean(of_turn.busy):.0f} %",
            )
