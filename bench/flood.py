"""Floods at full size, simulated: how late are the attempts of another event?

Once the floods are on, that event begins: an upload a second and three receivers that no instance
knows yet, a good one, a flaky one that refuses each first attempt, and a slow one that takes two
seconds to acknowledge. The parts that decide are the deployed ones: `FairQueue` in each
instance of the trigger, and `FastReceivers` in each worker. Queues and instances are a model with
the deployed numbers of main.py, and CPU is never short, unlike in `noisy_neighbors`. Time is
simulated and chance has a seed, so that the table is the same everywhere.

An attempt is late from when it is wanted to its POST: a first attempt with its upload, a second one
a second after the end of the first.
"""

import functools
import heapq
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

import main
from bench import estimate
from bench.figures import p99
from emulator.provider_models.cloud_tasks import Rate
from functions import parameters
from functions.ports import Clock as ProcessClock
from functions.webhooks.deliveries.delivery import SLOW_AFTER
from functions.webhooks.deliveries.fair_queue import FairQueue, Tenants, slow_attempts_a_second
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE
from functions.webhooks.deliveries.receiver_speed import FastReceivers
from functions.webhooks.sender.http_sender import TIMEOUT_SECONDS

SEED: Final = 20
SECONDS: Final = 30.0
HEALTHY_FROM: Final = 5.0
HEALTHY_UPLOADS: Final = 1
URLS: Final = 20
MANY_TENANTS: Final = 50
STARTING_SECONDS: Final = 2
GUST_SECONDS: Final = 3
RESENDS_A_SECOND: Final = 300
NO_PACE: Final = 1e9
REFUSAL_SECONDS: Final = estimate.ATTEMPT_SECONDS

_HEALTHY: Final = "healthy"
GOOD, FLAKY, _SLOW = "good", "flaky", "slow"
_SLOW_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What the healthy event has beside it, and which parts of the mechanism are on.

    `events` make so many `deliveries` a second each, at receivers that take `seconds` and
    acknowledge nothing; they belong to as many `tenants`, or to one each. `gusts`: the uploads of
    some seconds come at once. `resends`: a page of 300 deliveries is sent again each second.
    """

    name: str
    events: int = 1
    tenants: int = 0
    deliveries: float = 600
    seconds: float = TIMEOUT_SECONDS
    gusts: bool = False
    resends: bool = False
    pace: bool = True
    slow_queue: bool = True
    slow_pace: bool = True
    places: bool = True


_TWENTY: Final = Beside(name="twenty events, timed-out receivers", events=20, deliveries=100)
CASES: Final = (
    Beside(name="nothing", events=0),
    *(
        Beside(
            name=f"{events:,} events of {tenants}, {kind} receivers",
            events=events,
            tenants=number,
            deliveries=600 / events,
            seconds=seconds,
        )
        for events, number, tenants in (
            (1000, MANY_TENANTS, "fifty tenants"),
            (200, 1, "one tenant"),
            (1000, 1, "one tenant"),
        )
        for kind, seconds in (("timed-out", TIMEOUT_SECONDS), ("refusing", REFUSAL_SECONDS))
    ),
    Beside(name="one event, timed-out receivers"),
    Beside(name="one event, receivers that refuse at once", seconds=REFUSAL_SECONDS),
    Beside(name="one event in gusts, timed-out receivers", gusts=True),
    _TWENTY,
    replace(_TWENTY, name="twenty events, receivers that refuse at once", seconds=REFUSAL_SECONDS),
    Beside(name="a resend of 300 deliveries each second, timed-out receivers", resends=True),
    Beside(name="one event, timed-out receivers; no pace", pace=False),
    Beside(
        name="one event, receivers that refuse at once; no pace",
        seconds=REFUSAL_SECONDS,
        pace=False,
    ),
    Beside(name="one event, timed-out receivers; no slow queue", slow_queue=False),
    Beside(name="one event, timed-out receivers; no pace on the slow queue", slow_pace=False),
    replace(_TWENTY, name=f"{_TWENTY.name}; places for fast receivers not kept", places=False),
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

    @property
    def process(self) -> ProcessClock:
        """The clocks of a process that go with it."""
        return ProcessClock(lambda: datetime.fromtimestamp(self.now, UTC), self, lambda _: None)

    def at(self, moment: float, do: Callable[[], None]) -> None:
        """Have something done."""
        heapq.heappush(self._later, (max(moment, self.now), next(self._order), do))

    def run(self, until: float) -> None:
        """Do everything in its order, until that moment."""
        while self._later and self._later[0][0] <= until:
            self.now, _, do = heapq.heappop(self._later)
            do()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt: late from when it is `wanted`; `slow` once it is `due` on the slow queue."""

    event: str
    url: str
    wanted: float
    due: float
    number: int = 1
    slow: bool = False


@dataclass(slots=True, eq=False)
class Instance:
    """An instance of a worker: which receivers it knows, and how much it has at work."""

    receivers: FastReceivers
    slow_pace: FairQueue
    at_work: int = 0


@dataclass(slots=True)
class Queue:
    """A queue and the instances of its function, as main.py declares them."""

    clock: Clock
    make: Callable[["Queue", Instance, Attempt], None]
    instances: list[Instance]
    places: int
    waiting: list[tuple[float, int, Attempt]] = field(default_factory=list)
    order: Iterator[int] = field(default_factory=itertools.count)
    at_work: int = 0
    rate: Rate = field(default_factory=lambda: Rate(estimate.DISPATCHES_A_SECOND))
    awaited: float = float("inf")

    def put(self, attempt: Attempt) -> None:
        """Take a task."""
        heapq.heappush(self.waiting, (attempt.due, next(self.order), attempt))
        self.go_on()

    def go_on(self) -> None:
        """Start due attempts, in the order of their times, as far as limits allow."""
        while self.waiting and self.at_work < self.places:
            begins = max(self.waiting[0][0], self.rate.next_start)
            if begins > self.clock.now:
                self._go_on_at(begins)
                return
            self.rate.reserve(self.clock.now)
            instance = min(self.instances, key=lambda instance: instance.at_work)
            self.at_work += 1
            instance.at_work += 1
            self.make(self, instance, heapq.heappop(self.waiting)[2])

    def _go_on_at(self, moment: float) -> None:
        def go_on() -> None:
            if self.awaited == moment:
                self.awaited = float("inf")
                self.go_on()

        if moment < self.awaited:
            self.awaited = moment
            self.clock.at(moment, go_on)

    def ended(self, instance: Instance) -> None:
        """A task is answered."""
        self.at_work -= 1
        instance.at_work -= 1
        self.go_on()


class _Tenants(Tenants):
    """`count` tenants that share the floods, or with 0 a tenant for each event."""

    def __init__(self, count: int) -> None:
        self._count = count

    def of(self, event_id: str) -> str:
        number = event_id.rpartition("-")[2]
        shared = self._count and number.isdecimal()
        return f"tenant-{int(number) % self._count}" if shared else event_id


class Project:
    """The triggers, queues and workers of one project, with everything that comes at them."""

    def __init__(self, case: Beside) -> None:
        self._case = case
        self._clock = Clock()
        self._tenants = _Tenants(case.tenants)
        self._chance = random.Random(SEED)  # noqa: S311 - chance, not a secret
        self._queues = {
            name: self._queue(name)
            for name in (*(step.queue for step in RETRY_SCHEDULE), SLOW_QUEUE)
        }
        a_second = parameters.from_deploy().event_deliveries_a_second if case.pace else NO_PACE
        triggers = _endpoint("onPhotoWritten").maxInstances
        self._paces = [
            FairQueue(a_second, self._clock.process, self._tenants) for _ in range(triggers)
        ]
        self._resends = FairQueue(a_second, self._clock.process, self._tenants)
        self.late: dict[str, list[float]] = {GOOD: [], FLAKY: [], _SLOW: []}

    def run(self) -> None:
        """Half a minute of uploads."""
        moment = HEALTHY_FROM
        for number in itertools.count():
            moment += self._chance.expovariate(HEALTHY_UPLOADS)
            if moment >= SECONDS:
                break
            self._upload(_HEALTHY, [GOOD, FLAKY, _SLOW], moment, number)
        uploads = number
        if self._case.resends:
            for second in range(int(SECONDS)):
                self._clock.at(second, self._resend)
        elif self._case.events:
            for event in range(self._case.events):
                self._flood(f"flood-{event}", self._case.deliveries / URLS)
        self._clock.run(until=SECONDS + 30)
        for found in self.late.values():  # an attempt that was not made is late for ever
            found.extend([math.inf] * (uploads - len(found)))

    def _flood(self, event: str, uploads: float) -> None:
        begins = self._chance.uniform(0, STARTING_SECONDS) if self._case.events > 1 else 0
        if self._case.tenants:
            begins = self._chance.uniform(0, 1 / uploads) if uploads < 1 else begins
        for number in range(math.ceil(uploads * (SECONDS - begins))):
            moment = begins + number / uploads
            if self._case.gusts:
                moment -= moment % GUST_SECONDS
            self._upload(event, [f"{event}/{url}" for url in range(URLS)], moment, number)

    def _upload(self, event: str, urls: list[str], moment: float, number: int) -> None:
        pace = self._paces[number % len(self._paces)]

        def record() -> None:
            for url in urls:
                wait = pace.delay_for(event).total_seconds()
                due = self._clock.now + wait if wait else moment
                self._put(Attempt(event=event, url=url, wanted=moment, due=due))

        self._clock.at(moment + estimate.TRIGGER_SECONDS, record)

    def _resend(self) -> None:
        for number in range(RESENDS_A_SECOND):
            due = self._clock.now + self._resends.delay_for("flood-0").total_seconds()
            url = f"flood-0/{number % URLS}"
            self._put(Attempt(event="flood-0", url=url, wanted=due, due=due))

    def _put(self, attempt: Attempt) -> None:
        name = SLOW_QUEUE if attempt.slow else RETRY_SCHEDULE[attempt.number - 1].queue
        self._queues[name].put(attempt)

    def _make(self, queue: Queue, instance: Instance, attempt: Attempt) -> None:
        def decide() -> None:
            waits = instance.receivers.belongs_on_slow_queue(attempt.event, attempt.url)
            if self._case.slow_queue and not attempt.slow and waits:
                self._put(self._slow(instance, attempt))
                queue.ended(instance)
                return
            if attempt.event == _HEALTHY and (attempt.url, attempt.number) != (FLAKY, 1):
                self.late[attempt.url].append(self._clock.now - attempt.wanted)
            work = ExitStack()
            work.enter_context(instance.receivers.track(attempt.event, attempt.url))
            seconds = self._seconds(attempt)
            self._clock.at(self._clock.now + seconds, lambda: end(work, seconds))

        def end(work: ExitStack, seconds: float) -> None:
            work.close()
            refused = attempt.event != _HEALTHY or (attempt.url == FLAKY and attempt.number == 1)
            if refused and attempt.number < len(RETRY_SCHEDULE):
                self._put(self._next(instance, attempt, slow=seconds >= SLOW_AFTER.total_seconds()))
            queue.ended(instance)

        self._clock.at(self._clock.now + estimate.FIRESTORE_CALL_SECONDS, decide)

    def _seconds(self, attempt: Attempt) -> float:
        if attempt.event != _HEALTHY:
            return self._case.seconds
        return _SLOW_SECONDS if attempt.url == _SLOW else estimate.ATTEMPT_SECONDS

    def _next(self, instance: Instance, attempt: Attempt, *, slow: bool) -> Attempt:
        due = self._clock.now + RETRY_SCHEDULE[attempt.number].delay.total_seconds()
        retry = replace(attempt, number=attempt.number + 1, wanted=due, due=due, slow=False)
        return self._slow(instance, retry) if slow and self._case.slow_queue else retry

    def _slow(self, instance: Instance, attempt: Attempt) -> Attempt:
        wait = instance.slow_pace.delay_for(attempt.event).total_seconds()
        return replace(attempt, slow=True, due=max(attempt.due, self._clock.now + wait))

    def _queue(self, name: str) -> Queue:
        endpoint = _endpoint(name)
        deploy = parameters.from_deploy()
        is_slow = self._case.slow_pace
        slow_a_second = (
            slow_attempts_a_second(deploy.delivery_instances, deploy.threads)
            if is_slow
            else NO_PACE
        )
        knows = FastReceivers if self._case.places else _Unbounded
        clock, tenants = self._clock.process, self._tenants
        workers = [
            Instance(knows(clock, tenants), FairQueue(slow_a_second, clock, tenants))
            for _ in range(endpoint.maxInstances)
        ]
        limits = endpoint.taskQueueTrigger["rateLimits"]
        return Queue(self._clock, self._make, workers, limits["maxConcurrentDispatches"])


class _Unbounded(FastReceivers):
    """Knows slow receivers, and lets any number of unknown ones try."""

    def _has_too_many_in_flight(self, event_id: str, unproven: Sequence[Any]) -> bool:
        del event_id, unproven
        return False


def _endpoint(function: str) -> Any:
    """The options of a function; of a retry that main.py does not know yet those of the last."""
    return vars(main).get(function, main.retryWebhookAfter30s).__firebase_endpoint__


@functools.cache
def late(case: Beside) -> dict[str, list[float]]:
    """Seconds from due to POST, by receiver; of the flaky one those of second attempts."""
    project = Project(case)
    project.run()
    return project.late


def table() -> Iterator[str]:
    """The rows, of which docs/internals/scale.md has those that teach something."""
    yield "| beside | first attempts | second attempts | at a slow receiver |"
    yield "|---|---|---|---|"
    yield from map(row, CASES)


def row(case: Beside) -> str:
    """The row of a case."""
    cells = (f"{median(seconds):.2f}, {p99(seconds):.2f}" for seconds in late(case).values())
    return f"| {case.name} | {' | '.join(cells)} |"
