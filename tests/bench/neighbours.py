"""An event with 20 silent receivers uploads without pause beside one with a healthy receiver.

Is the healthy one held up? Its median latency and its 99th percentile are to be within 1.5 times of
what they are alone: from the write, as the trigger gets it, to the arrival of the POST.

The functions are real ones in processes of their own, receivers speak TLS, and Cloud Tasks and
Cloud Run are `queues.py`. Two cores do the work of a region, so that a flood as fast as it can go
would show how tired the machine is, and nothing else. Hence a twentieth of everything that is
counted: a queue has 80 of 1,600 places on 2 of 20 instances, and 25 of 500 dispatches a second; an
event may have 3 of 50 first attempts a second of a trigger's instance; and the flood owes 30 first
attempts a second for 600. That is twice what fills the places for good, and more than the queue may
dispatch. Instances, deadlines and what a worker knows are whole ones.

The event with one receiver takes its turns alone; beside the flood of another event of its own
tenant, which has the same queue; beside that of another tenant, which has another; and beside a
flood on one queue that nobody leaves: without what keeps slow receivers apart. Who would work
elsewhere than the event's own deliveries gets what CPU the others leave: another tenant's
deliveries, those of busy events, those for slow receivers, retries, and the silent receivers. The
triggers, Firestore and Cloud Tasks serve both, and what they do for the flood on the same two cores
is in the figures.

Each turn's flood is a new event, which nobody knows to be slow. Uploads come at random, the event's
own in all turns of a round at the same moments. The turns are short and come round again, so that
what else the machine does falls on all alike. What has not arrived some seconds after the last
write counts as that late.
"""

import asyncio
import json
import os
import random
import ssl
import statistics
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Final

import psutil
from google.cloud import firestore

from emulator import certificates
from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.cloud.function_process import ENTRY
from emulator.receiver import Receiver, always
from functions.webhooks.deliveries.first_queues import BUSY, ORDINARY, SLOW
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from tests.bench.figures import latencies, p50, p99, spread
from tests.bench.firestore import own_firestore
from tests.bench.queues import Forget, Instances, WaitUntilIdle, dispatch
from tests.bench.turns import make_way, peer, until_closed
from tests.suite.process import FunctionProcess, Written

AIM: Final = 1.5
ROUNDS: Final = 8
TURN_SECONDS: Final = 12.0
UPLOADS_A_SECOND: Final = 4
SILENT: Final = 20
FLOOD_UPLOADS_A_SECOND: Final = 1.5

THREADS: Final = 40
INSTANCES: Final = 2
DISPATCHES_A_SECOND: Final = 25
EVENT_A_SECOND: Final = 3

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
_PATH: Final = "/hook"

_OFF_QUEUE, _HOME_QUEUE, _OTHER_QUEUE = ORDINARY[:3]


def _tenant_of(queue: str) -> str:
    """A tenant whose first attempts have that queue."""
    number = ORDINARY.index(queue)
    names = (f"tenant-{n}" for n in range(1000))
    return next(one for one in names if zlib.crc32(one.encode()) % len(ORDINARY) == number)


HOME: Final = _tenant_of(_HOME_QUEUE)
OTHER: Final = _tenant_of(_OTHER_QUEUE)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the event with one receiver has beside it: a flood of `flood`'s, or nothing.

    `apart` is whether slow receivers are kept apart.
    """

    name: str
    flood: str | None
    apart: bool = True


ALONE: Final = Turn("alone", None)
TURNS: Final = (
    ALONE,
    Turn("beside the same tenant's flood", HOME),
    Turn("beside another tenant's flood", OTHER),
    Turn("likewise, nobody kept apart", OTHER, apart=False),
)


@dataclass(slots=True)
class Found:
    """What one kind of turn came to: seconds of each delivery, and how many were not waited for."""

    rounds: list[list[float]] = field(default_factory=list)
    late: int = 0
    busy: list[float] = field(default_factory=list)

    @property
    def all(self) -> Sequence[float]:
        """Of all rounds."""
        return [one for seconds in self.rounds for one in seconds]


def main() -> None:
    """Print the figures."""
    certificates.ensure()
    found = {turn: Found() for turn in TURNS}
    with ExitStack() as stack:
        stack.enter_context(own_firestore(*_UNDISTURBED))
        wall = Wall(stack)
        for number in range(ROUNDS + 1):
            for turn in TURNS:
                seconds, late, busy = wall.take(turn, TURN_SECONDS, random.Random(number))  # noqa: S311
                if number:  # everybody warms up in the first
                    found[turn].rounds.append(seconds)
                    found[turn].late += late
                    found[turn].busy.append(busy)
    _print(found)


class Wall:
    """The running functions, queues and receivers."""

    def __init__(self, stack: ExitStack) -> None:
        self._db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
        self._healthy = stack.enter_context(peer(receive))
        self._silent = stack.enter_context(peer(keep_silent, SILENT))
        self._queues = stack.enter_context(peer(dispatch))
        self._silent_urls = [f"https://localhost:{one}{_PATH}" for one in self._silent.ask("ports")]
        common = {
            ADDRESS_VARIABLE: self._queues.ask("address"),
            "THREADS": str(THREADS),
            "EVENT_DELIVERIES_A_SECOND": str(EVENT_A_SECOND),
            "DELIVERY_QUEUES": str(len(ORDINARY)),
            "TENANT_QUEUES": "1",
        }
        off = common | {"DELIVERY_QUEUES": "1", "EVENT_DELIVERIES_A_SECOND": "1000000"}
        workers = (
            *((name, common, ENTRY) for name in (_HOME_QUEUE, _OTHER_QUEUE, BUSY, SLOW)),
            (_OFF_QUEUE, off, "tests/bench/one_queue.py"),
            *((one.queue, common, ENTRY) for one in RETRY_SCHEDULE[1:]),
        )
        triggers = ((True, common), (False, off))
        with ThreadPoolExecutor(_STARTING) as threads:
            starting = [
                (name, threads.submit(FunctionProcess, name, source=source, **environment))
                for name, environment, source in workers
                for _ in range(INSTANCES)
            ]
            triggering = [
                (
                    apart,
                    threads.submit(FunctionProcess, "onPhotoWritten", event=True, **environment),
                )
                for apart, environment in triggers
                for _ in range(INSTANCES)
            ]
        for _, one in (*starting, *triggering):
            if one.exception() is None:
                stack.callback(one.result().kill)
        ports: dict[str, list[int]] = {}
        for name, one in starting:
            ports.setdefault(name, []).append(one.result().port)
        self._triggers: dict[bool, list[FunctionProcess]] = {True: [], False: []}
        self._at_work = {apart: [0] * INSTANCES for apart in self._triggers}
        self._choosing = threading.Lock()
        for apart, one in triggering:
            self._triggers[apart].append(one.result())
        elsewhere = {_OTHER_QUEUE, BUSY, SLOW, *(one.queue for one in RETRY_SCHEDULE[1:])}
        for name, one in starting:
            if name in elsewhere:
                make_way(one.result().pid)
        self._queues.ask(Instances(ports, THREADS, DISPATCHES_A_SECOND))
        self._home = self._event(HOME, [self._healthy.ask("url")])

    def take(
        self, turn: Turn, seconds: float, chance: random.Random
    ) -> tuple[list[float], int, float]:
        """One turn of so many seconds; `chance` says when in its share of them an upload comes.

        Returns:
            Seconds of each delivery; how many nobody waited for; per cent of CPU that were busy.
        """
        flood = self._event(turn.flood, self._silent_urls) if turn.flood else None
        sent: dict[str, float] = {}

        def upload(event_id: str, number: int, at: float) -> None:
            photo_id = f"p{uuid.uuid4().hex}"
            written = self._written(event_id, photo_id)
            time.sleep(max(at - time.monotonic(), 0))
            if event_id == self._home:
                sent[photo_id] = time.monotonic()
            status = self._triggered(turn.apart, number, written)
            assert status == 200, status

        self._silent.ask("be silent")
        psutil.cpu_percent()  # from now on
        began = time.monotonic() + 0.1
        uploads: list[tuple[str, float]] = [(self._home, UPLOADS_A_SECOND)]
        if flood:
            uploads.append((flood, FLOOD_UPLOADS_A_SECOND))
        with ThreadPoolExecutor(_IN_FLIGHT) as threads:
            every = [
                (event_id, number, began + (number + chance.random()) / rate)
                for event_id, rate in uploads
                for number in range(int(seconds * rate))
            ]
            every.sort(key=lambda one: one[2])
            for done in [threads.submit(upload, *one) for one in every]:
                done.result()
        busy = psutil.cpu_percent()
        arrived: dict[str, float] = {}
        ends = time.monotonic() + GRACE_SECONDS
        while len(arrived) < len(sent) and time.monotonic() < ends:
            time.sleep(0.1)
            arrived |= self._healthy.ask("arrived")
        if flood:
            self._queues.ask(Forget(flood))
            self._silent.ask("hang up")
        if not self._queues.ask(WaitUntilIdle(_IDLE_SECONDS)):
            sys.exit(f"neighbours: deliveries have not ended after {_IDLE_SECONDS:.0f} s")
        lost = sent.keys() - arrived.keys() - self._healthy.ask("arrived").keys()
        if lost:
            sys.exit(f"neighbours: {len(lost)} deliveries are lost {turn.name}")
        found = [min(arrived.get(one, ends), ends) - at for one, at in sent.items()]
        return found, len(sent.keys() - arrived.keys()), busy

    def _triggered(self, apart: bool, number: int, written: Written) -> int | None:
        """Hand it, as Cloud Run does, to the instance that has the fewest; they take turns."""
        triggers, at_work = self._triggers[apart], self._at_work[apart]
        with self._choosing:
            chosen = min(
                range(INSTANCES), key=lambda one: (at_work[one], (one + number) % INSTANCES)
            )
            at_work[chosen] += 1
        try:
            return triggers[chosen].written(written)
        finally:
            with self._choosing:
                at_work[chosen] -= 1

    def _event(self, tenant: str, urls: Sequence[str]) -> str:
        event_id = f"neighbours-{uuid.uuid4().hex[:8]}"
        event = self._db.document("events", event_id)
        event.set({"tenantId": tenant, "name": "Party", "status": "published"})
        taken = [{"url": one, "events": ["photo.uploaded"]} for one in urls]
        event.collection("settings").document("webhooks").set({"urls": taken})
        return event_id

    def _written(self, event_id: str, photo_id: str) -> Written:
        fields = {
            "status": "pending",
            "url": f"https://example.com/{photo_id}.jpg",
            "uploaderName": "Ann",
            "createdAt": datetime.now(UTC),
        }
        path = f"events/{event_id}/photos/{photo_id}"
        return Written(self._db, path, event_id=f"{event_id}-{photo_id}", after=fields)


def receive(pipe: Connection) -> None:
    """The healthy receiver; answers `url` and `arrived`, when each photo's POST came."""
    with Receiver(certificates.SERVER, scripts={_PATH: always()}) as receiver, until_closed():
        while True:
            if pipe.recv() == "url":
                pipe.send(receiver.url(_PATH))
                continue
            found = receiver.requests
            pipe.send({json.loads(one.body)["data"]["photo"]["id"]: one.monotonic for one in found})


def keep_silent(pipe: Connection, count: int) -> None:
    """So many receivers that shake hands, read, and never answer; answers `ports`.

    Told to `hang up`, they close what is open, and what comes until they are to `be silent` again.
    """
    make_way(os.getpid())
    with until_closed():
        asyncio.run(_keep_silent(pipe, count))


async def _keep_silent(pipe: Connection, count: int) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates.SERVER)
    open_now: set[asyncio.StreamWriter] = set()
    silent = True

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.add(writer)
        with suppress(OSError):
            while silent and await reader.read(65536):
                pass
        open_now.discard(writer)
        writer.close()

    servers = [
        await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls, backlog=256)
        for _ in range(count)
    ]
    loop = asyncio.get_running_loop()
    while True:
        question = await loop.run_in_executor(None, pipe.recv)
        silent = question != "hang up"
        if not silent:
            for writer in list(open_now):
                writer.close()
        pipe.send([one.sockets[0].getsockname()[1] for one in servers])


def _print(found: Mapping[Turn, Found]) -> None:
    alone = found[ALONE]
    print(f"{'':<33}   {'latency of the healthy':<26}  {'n':>5}  late    times alone      CPU")
    for turn, one in found.items():
        times = _times(one.all, alone.all)
        told = "" if one is alone else "  not held up" if max(times) <= AIM else "  held up"
        print(
            f"{turn.name:<33}   {latencies(one.all)}  {len(one.all):5}  {one.late:4}"
            f"    {times[0]:6.2f}  {times[1]:6.2f}   {statistics.mean(one.busy):3.0f} %{told}"
        )
    print("\nround by round, times the round alone:  median (quartiles)")
    for turn, one in found.items():
        if one is alone:
            continue
        rounds = [_times(*both) for both in zip(one.rounds, alone.rounds, strict=True)]
        for name, ratios in zip(("p50", "p99"), zip(*rounds, strict=True), strict=True):
            print(f"{turn.name:<33}   {name}  {spread(ratios)}")


def _times(ours: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Median and 99th percentile, as ratios."""
    return p50(ours) / p50(others), p99(ours) / p99(others)


if __name__ == "__main__":
    main()
