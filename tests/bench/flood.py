"""A flood at full size, simulated: the queues' limits, and the real rules for who makes way.

An event with 20 silent receivers uploads 30 photos a second, which owes 600 first attempts a
second; an event of the same tenant, in the same queue, has ten a second at a healthy receiver. The
rules are the service's own (`TenantQueues` in each instance of the trigger, `SlowReceivers` in each
of the workers); queues and instances are a model with all their places, and nobody's CPU is short,
which `neighbours` cannot say of its machine. Time is made up, chance has a seed.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from emulator.cloud.dispatcher import BURST_SECONDS
from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.first_queues import ORDINARY, SLOW
from functions.webhooks.endpoints.http_sender import TIMEOUT_SECONDS
from functions.webhooks.slow_receivers import SlowReceivers
from functions.webhooks.tenant_queues import TenantQueues
from tests.bench.estimate import (
    ATTEMPT_SECONDS,
    DISPATCHES,
    FIRESTORE_CALL_SECONDS,
    PLACES,
    TRIGGER_SECONDS,
)
from tests.bench.figures import p50, p99

if TYPE_CHECKING:
    from functions.webhooks.ports import Wall

SEED: Final = 20
SECONDS: Final = 30.0
URLS: Final = 20
FLOOD_UPLOADS: Final = 30
GUST_SECONDS: Final = 3
UPLOADS: Final = 10
TRIGGERS: Final = 3
WORKERS: Final = 20
EVENT_A_SECOND: Final = 50
NO_LIMIT: Final = 1_000_000

_FLOOD, _HEALTHY, _TENANT = "flood", "healthy", "tenant"
_NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Beside:
    """What the healthy receiver has beside it, and which rules hold.

    `gusts` is whether the uploads of some seconds come at once, and then none for as long.
    """

    name: str
    flood: bool = True
    gusts: bool = False
    share: bool = True
    slow: bool = True


CASES: Final = (
    Beside("nothing", flood=False),
    Beside("the flood"),
    Beside("the flood in gusts", gusts=True),
    Beside("the flood, without an event's share of dispatches", share=False),
    Beside("the flood, without the slow queue as well", share=False, slow=False),
)


class Clock:
    """What happens when, in seconds of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def __call__(self) -> float:
        """The time."""
        return self.now

    def at(self, moment: float, do: Callable[[], None]) -> None:
        """Have something done."""
        heapq.heappush(self._later, (moment, next(self._order), do))

    def run(self) -> None:
        """Do everything, in its order."""
        while self._later:
            self.now, _, do = heapq.heappop(self._later)
            do()


@dataclass(slots=True)
class Instance:
    """An instance of a worker: what it has met, and how much it has at work."""

    met: SlowReceivers
    at_work: int = 0


@dataclass(slots=True)
class Queue:
    """A queue and the function of its name."""

    clock: Clock
    attempt: Callable[["Queue", Instance, Task], None]
    instances: list[Instance]
    waiting: deque[Task] = field(default_factory=deque)
    at_work: int = 0
    next: float = 0.0
    is_awaited: bool = False

    def put(self, task: Task) -> None:
        """Take a task."""
        self.waiting.append(task)
        self.go_on()

    def go_on(self) -> None:
        """Dispatch what may be dispatched."""
        while self.waiting and self.at_work < PLACES.limit:
            begins = self.next - BURST_SECONDS
            if begins > self.clock.now:
                if not self.is_awaited:
                    self.is_awaited = True
                    self.clock.at(begins, self._awaited)
                return
            self.next = max(self.next, self.clock.now) + 1 / DISPATCHES.limit
            instance = min(self.instances, key=lambda one: one.at_work)
            self.at_work += 1
            instance.at_work += 1
            self.attempt(self, instance, self.waiting.popleft())

    def ended(self, instance: Instance) -> None:
        """A task is answered."""
        self.at_work -= 1
        instance.at_work -= 1
        self.go_on()

    def _awaited(self) -> None:
        self.is_awaited = False
        self.go_on()


class Crowd:
    """All of it; also the queue beneath and the wall of `TenantQueues`."""

    def __init__(self, case: Beside) -> None:
        self._case = case
        self._clock = Clock()
        self._chance = random.Random(SEED)  # noqa: S311 - chance, not a secret
        self._queues: dict[str, Queue] = {}
        self._uploaded: dict[str, float] = {}
        self.latencies: list[float] = []

    def run(self) -> None:
        """Half a minute of uploads, until all of the healthy receiver's have come."""
        share = EVENT_A_SECOND if self._case.share else NO_LIMIT
        triggers = [
            TenantQueues(
                self,
                wall=cast("Wall", self),  # asked for events alone
                queues=len(ORDINARY),
                a_tenant=1,
                a_second=share,
                monotonic=self._clock,
            )
            for _ in range(TRIGGERS)
        ]
        moment = 0.0
        while (moment := moment + self._chance.expovariate(UPLOADS)) < SECONDS:
            self._upload(triggers, _HEALTHY, len(self._uploaded), moment, 1)
        if self._case.flood:
            for number in range(int(FLOOD_UPLOADS * SECONDS)):
                moment = number / FLOOD_UPLOADS
                if self._case.gusts:
                    moment -= moment % GUST_SECONDS
                self._upload(triggers, _FLOOD, number, moment, URLS)
        self._clock.run()

    def enqueue(self, task: Task) -> None:
        """Be the queue beneath."""
        if task.queue not in self._queues:
            instances = [Instance(SlowReceivers(self._clock)) for _ in range(WORKERS)]
            self._queues[task.queue] = Queue(self._clock, self._attempt, instances)
        self._queues[task.queue].put(task)

    def event(self, event_id: str) -> Mapping[str, Any]:
        """Be the wall: both events are one tenant's."""
        del event_id
        return {"tenantId": _TENANT}

    def _upload(
        self, triggers: list[TenantQueues], event: str, number: int, moment: float, urls: int
    ) -> None:
        names = [f"{event}-{number}-{url}" for url in range(urls)]
        if event == _HEALTHY:
            self._uploaded[names[0]] = moment

        def enqueue() -> None:
            for url, name in enumerate(names):
                data: dict[str, str | int] = {"eventId": event, "url": f"{event}-{url}"}
                task = Task(queue=ORDINARY[0], name=name, data=data, due=_NOW)
                triggers[number % TRIGGERS].enqueue(task)

        self._clock.at(moment + TRIGGER_SECONDS, enqueue)

    def _attempt(self, queue: Queue, instance: Instance, task: Task) -> None:
        event, url = str(task.data["eventId"]), str(task.data["url"])

        def decide() -> None:
            makes_way = not task.data.get("slow") and instance.met.has_to_wait(event, url)
            if makes_way and self._case.slow:
                self._clock.at(self._clock.now + FIRESTORE_CALL_SECONDS, send_on)
                return
            if event == _HEALTHY:
                self.latencies.append(self._clock.now - self._uploaded[task.name])
            work = ExitStack()
            work.enter_context(instance.met.at_work(event, url))
            takes = TIMEOUT_SECONDS if event == _FLOOD else ATTEMPT_SECONDS
            self._clock.at(self._clock.now + takes, lambda: end(work))

        def send_on() -> None:
            slow = Task(queue=SLOW, name=task.name, data={**task.data, "slow": 1}, due=_NOW)
            self.enqueue(slow)
            queue.ended(instance)

        def end(work: ExitStack) -> None:
            work.close()
            instance.met.met(event, url, answered=event == _HEALTHY)
            queue.ended(instance)

        self._clock.at(self._clock.now + FIRESTORE_CALL_SECONDS, decide)


def latencies(case: Beside) -> list[float]:
    """Seconds from each upload to the beginning of its POST at the healthy receiver."""
    crowd = Crowd(case)
    crowd.run()
    return crowd.latencies


def table() -> Iterator[str]:
    """The rows in docs/scale.md."""
    yield "| beside | median, s | 99th percentile, s | times alone |"
    yield "|---|---|---|---|"
    alone: list[float] = []
    for case in CASES:
        found = latencies(case)
        alone = alone or found
        times = f"{p50(found) / p50(alone):,.2f}, {p99(found) / p99(alone):,.2f}"
        yield f"| {case.name} | {p50(found):.2f} | {p99(found):.2f} | {times} |"


if __name__ == "__main__":
    print("\n".join(table()))
