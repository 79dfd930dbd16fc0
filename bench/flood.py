"""Simulation of floods at full size: how late are the attempts of another event?

The other event, called healthy, starts after the floods. It has one upload a second and three
receivers that no instance knows: a good one, a flaky one that rejects each first attempt, and a
slow one that acknowledges after two seconds. The simulation uses the deployed `FairQueue` in each
instance of the trigger and `FastReceivers` in each worker. Queues and instances are models with the
numbers of main.py. Unlike in `noisy_neighbors`, CPU is unlimited. Time is simulated and the random
numbers have a seed, so that the table is the same everywhere.

The lateness of an attempt is the time between its due time and its POST. A first attempt is due
with its upload, a second one a second after the end of the first.
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
from bench import assumptions
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
UNLIMITED: Final = 1e9
REFUSAL_SECONDS: Final = assumptions.ATTEMPT_SECONDS

_HEALTHY: Final = "healthy"
GOOD, FLAKY, _SLOW = "good", "flaky", "slow"
_SLOW_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A flood, and the parts of the mechanism that are on.

    Attributes:
        name: Name in the table.
        events: Number of events in the flood.
        tenants: Number of tenants that own the events. 0 means a tenant for each event.
        deliveries: Deliveries of an event per second.
        seconds: Duration of an attempt at their receivers, which never acknowledge.
        gusts: Whether the uploads of some seconds arrive at once.
        resends: Whether the flood is a resend of 300 deliveries each second.
        fair_queue: Whether the fair queue of first attempts is on.
        slow_queue: Whether the slow queue exists.
        slow_fair_queue: Whether the fair queue of slow attempts is on.
        fast_slots: Whether slots are reserved for fast receivers.
    """

    name: str
    events: int = 1
    tenants: int = 0
    deliveries: float = 600
    seconds: float = TIMEOUT_SECONDS
    gusts: bool = False
    resends: bool = False
    fair_queue: bool = True
    slow_queue: bool = True
    slow_fair_queue: bool = True
    fast_slots: bool = True


_TWENTY: Final = Case(name="twenty events, timed-out receivers", events=20, deliveries=100)
CASES: Final = (
    Case(name="nothing", events=0),
    *(
        Case(
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
    Case(name="one event, timed-out receivers"),
    Case(name="one event, refusing receivers", seconds=REFUSAL_SECONDS),
    Case(name="one event in gusts, timed-out receivers", gusts=True),
    _TWENTY,
    replace(_TWENTY, name="twenty events, refusing receivers", seconds=REFUSAL_SECONDS),
    Case(name="a resend of 300 deliveries each second, timed-out receivers", resends=True),
    Case(name="one event, timed-out receivers; no fair queue", fair_queue=False),
    Case(
        name="one event, refusing receivers; no fair queue",
        seconds=REFUSAL_SECONDS,
        fair_queue=False,
    ),
    Case(name="one event, timed-out receivers; no slow queue", slow_queue=False),
    Case(
        name="one event, timed-out receivers; no fair queue of slow attempts",
        slow_fair_queue=False,
    ),
    replace(_TWENTY, name=f"{_TWENTY.name}; no slots for fast receivers", fast_slots=False),
)


class Clock:
    """A simulated clock in seconds, with scheduled functions."""

    def __init__(self) -> None:
        self.now = 0.0
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    @property
    def process(self) -> ProcessClock:
        """The clocks of a process at this simulated time."""
        return ProcessClock(lambda: datetime.fromtimestamp(self.now, UTC), self, lambda _: None)

    def at(self, moment: float, do: Callable[[], None]) -> None:
        """Schedule a function."""
        heapq.heappush(self._later, (max(moment, self.now), next(self._order), do))

    def run(self, until: float) -> None:
        """Run the scheduled functions in their order, until that time."""
        while self._later and self._later[0][0] <= until:
            self.now, _, do = heapq.heappop(self._later)
            do()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt.

    Attributes:
        event: ID of the event.
        url: URL of the receiver.
        wanted: Time from which the attempt counts as late.
        due: Due time of the task.
        number: Number of the attempt, from 1.
        slow: Whether the task is on the slow queue.
    """

    event: str
    url: str
    wanted: float
    due: float
    number: int = 1
    slow: bool = False


@dataclass(slots=True, eq=False)
class Instance:
    """An instance of a worker, with the receivers that it knows and its requests in flight."""

    receivers: FastReceivers
    slow_fair_queue: FairQueue
    in_flight: int = 0


@dataclass(slots=True)
class Queue:
    """A queue and the instances of its function, as declared in main.py."""

    clock: Clock
    start: Callable[["Queue", Instance, Attempt], None]
    instances: list[Instance]
    slots: int
    waiting: list[tuple[float, int, Attempt]] = field(default_factory=list)
    order: Iterator[int] = field(default_factory=itertools.count)
    in_flight: int = 0
    rate: Rate = field(default_factory=lambda: Rate(assumptions.DISPATCHES_A_SECOND))
    next_run: float = float("inf")

    def put(self, attempt: Attempt) -> None:
        """Enqueue an attempt."""
        heapq.heappush(self.waiting, (attempt.due, next(self.order), attempt))
        self.dispatch()

    def dispatch(self) -> None:
        """Start due attempts in the order of their due times, within the limits."""
        while self.waiting and self.in_flight < self.slots:
            begins = max(self.waiting[0][0], self.rate.next_start)
            if begins > self.clock.now:
                self._dispatch_at(begins)
                return
            self.rate.reserve(self.clock.now)
            instance = min(self.instances, key=lambda instance: instance.in_flight)
            self.in_flight += 1
            instance.in_flight += 1
            self.start(self, instance, heapq.heappop(self.waiting)[2])

    def _dispatch_at(self, moment: float) -> None:
        def dispatch() -> None:
            if self.next_run == moment:
                self.next_run = float("inf")
                self.dispatch()

        if moment < self.next_run:
            self.next_run = moment
            self.clock.at(moment, dispatch)

    def end(self, instance: Instance) -> None:
        """Free the slot of an answered task."""
        self.in_flight -= 1
        instance.in_flight -= 1
        self.dispatch()


class _Tenants(Tenants):
    """`count` tenants that share the floods. 0 means a tenant for each event."""

    def __init__(self, count: int) -> None:
        self._count = count

    def of(self, event_id: str) -> str:
        number = event_id.rpartition("-")[2]
        shared = self._count and number.isdecimal()
        return f"tenant-{int(number) % self._count}" if shared else event_id


class Project:
    """The triggers, queues and workers of one project, with all of its load."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._clock = Clock()
        self._tenants = _Tenants(case.tenants)
        self._chance = random.Random(SEED)  # noqa: S311 - chance, not a secret
        self._queues = {
            name: self._queue(name)
            for name in (*(step.queue for step in RETRY_SCHEDULE), SLOW_QUEUE)
        }
        limit = parameters.from_deploy().event_deliveries_a_second
        rate = limit if case.fair_queue else UNLIMITED
        triggers = _endpoint("onPhotoWritten").maxInstances
        self._fair_queues = [
            FairQueue(rate, self._clock.process, self._tenants) for _ in range(triggers)
        ]
        self._resends = FairQueue(rate, self._clock.process, self._tenants)
        self.late: dict[str, list[float]] = {GOOD: [], FLAKY: [], _SLOW: []}

    def run(self) -> None:
        """Simulate half a minute of uploads."""
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
        for found in self.late.values():  # a missing attempt counts as infinitely late
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
        fair_queue = self._fair_queues[number % len(self._fair_queues)]

        def record() -> None:
            for url in urls:
                wait = fair_queue.delay_for(event).total_seconds()
                due = self._clock.now + wait if wait else moment
                self._put(Attempt(event=event, url=url, wanted=moment, due=due))

        self._clock.at(moment + assumptions.TRIGGER_SECONDS, record)

    def _resend(self) -> None:
        for number in range(RESENDS_A_SECOND):
            due = self._clock.now + self._resends.delay_for("flood-0").total_seconds()
            url = f"flood-0/{number % URLS}"
            self._put(Attempt(event="flood-0", url=url, wanted=due, due=due))

    def _put(self, attempt: Attempt) -> None:
        name = SLOW_QUEUE if attempt.slow else RETRY_SCHEDULE[attempt.number - 1].queue
        self._queues[name].put(attempt)

    def _start(self, queue: Queue, instance: Instance, attempt: Attempt) -> None:
        def decide() -> None:
            waits = instance.receivers.belongs_on_slow_queue(attempt.event, attempt.url)
            if self._case.slow_queue and not attempt.slow and waits:
                self._put(self._slow(instance, attempt))
                queue.end(instance)
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
            queue.end(instance)

        self._clock.at(self._clock.now + assumptions.FIRESTORE_CALL_SECONDS, decide)

    def _seconds(self, attempt: Attempt) -> float:
        if attempt.event != _HEALTHY:
            return self._case.seconds
        return _SLOW_SECONDS if attempt.url == _SLOW else assumptions.ATTEMPT_SECONDS

    def _next(self, instance: Instance, attempt: Attempt, *, slow: bool) -> Attempt:
        due = self._clock.now + RETRY_SCHEDULE[attempt.number].delay.total_seconds()
        retry = replace(attempt, number=attempt.number + 1, wanted=due, due=due, slow=False)
        return self._slow(instance, retry) if slow and self._case.slow_queue else retry

    def _slow(self, instance: Instance, attempt: Attempt) -> Attempt:
        wait = instance.slow_fair_queue.delay_for(attempt.event).total_seconds()
        return replace(attempt, slow=True, due=max(attempt.due, self._clock.now + wait))

    def _queue(self, name: str) -> Queue:
        endpoint = _endpoint(name)
        deploy = parameters.from_deploy()
        slow_rate = (
            slow_attempts_a_second(deploy.delivery_instances, deploy.threads)
            if self._case.slow_fair_queue
            else UNLIMITED
        )
        receivers = FastReceivers if self._case.fast_slots else _UnlimitedReceivers
        clock, tenants = self._clock.process, self._tenants
        workers = [
            Instance(receivers(clock, tenants), FairQueue(slow_rate, clock, tenants))
            for _ in range(endpoint.maxInstances)
        ]
        limits = endpoint.taskQueueTrigger["rateLimits"]
        return Queue(self._clock, self._start, workers, limits["maxConcurrentDispatches"])


class _UnlimitedReceivers(FastReceivers):
    """Recognizes slow receivers, but reserves no slots for fast ones."""

    def _has_too_many_in_flight(self, event_id: str, unproven: Sequence[Any]) -> bool:
        del event_id, unproven
        return False


def _endpoint(function: str) -> Any:
    """Return the options of a function. New retries have the options of the last one."""
    return vars(main).get(function, main.retryWebhookAfter30s).__firebase_endpoint__


@functools.cache
def late(case: Case) -> dict[str, list[float]]:
    """Return the lateness of attempts in seconds, by receiver.

    The attempts are first attempts, and second attempts at the flaky receiver.
    """
    project = Project(case)
    project.run()
    return project.late


def table() -> Iterator[str]:
    """Yield the table's rows. docs/internals/scale.md shows the most important rows."""
    yield "| flood | first attempts | second attempts | at a slow receiver |"
    yield "|---|---|---|---|"
    yield from map(row, CASES)


def row(case: Case) -> str:
    """Return the row of a case."""
    cells = (f"{median(seconds):.2f}, {p99(seconds):.2f}" for seconds in late(case).values())
    return f"| {case.name} | {' | '.join(cells)} |"
