"""One schedule: a virtual clock, instances that run real code, and faults at calls.

Code under test runs in greenlets, coroutines that can switch at any depth. They switch at every
call of a port, at `sleep` and at `in_parallel`. The code in between runs at one moment of the
virtual clock. Times are integers in microseconds.
"""

import contextlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeAlias, TypeVar

import greenlet

from functions.ports import Clock
from tests.in_memory.through import Crash, ServiceError
from tests.simulation.choices import Choices
from tests.simulation.faults import AT_MOST, ENDS_OR_WAITS, EVERY, Fault, FaultPlan, pause

T = TypeVar("T")
Item = TypeVar("Item")
Parts = TypeVar("Parts")

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

START: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
"""Start time of every schedule."""

_LATENCY: Final = 40_000
"""Maximum latency before the effect of a call, and after it."""

_RETRY: Final = 2 * SECOND
"""Maximum delay of an adapter's retry."""

_SKEW: Final = 200_000
"""Maximum error of an instance's clock in both directions."""

_HORIZON: Final = 72 * HOUR
_EVENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Returned:
    """The call of a use case returned."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The call of a use case raised."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Died:
    """The instance crashed during the call."""


End: TypeAlias = Returned | Raised | Died


class Simulation:
    """The clock and the schedule.

    Attributes:
        time: Microseconds since `START`.
        choices: The decisions of the schedule.
        faults: The faults so far.
        found: The violations so far.
        hub: The greenlet that runs the schedule. Actors switch back to it.
        trace: The trace, if it is enabled.
    """

    def __init__(self, choices: Choices, *, traced: bool = False) -> None:
        """Start with an empty schedule."""
        self.time = 0
        self.choices = choices
        self.fault_plan = FaultPlan.from_choices(choices)
        self.found: list[str] = []
        self.trace: list[str] = []
        self._traced = traced
        self.faults: set[Fault] = set()
        self._faults = 0
        self._entries = 0
        self._schedule: list[tuple[int, int, Callable[[], object]]] = []
        self._running: dict[Actor, None] = {}
        self.hub = greenlet.getcurrent()

    @property
    def now(self) -> datetime:
        """The true time."""
        return START + timedelta(microseconds=self.time)

    def after(self, microseconds: int, do: Callable[[], object]) -> None:
        """Schedule `do` in `microseconds`."""
        self._entries += 1
        heapq.heappush(self._schedule, (self.time + microseconds, self._entries, do))

    def violation(self, sentence: str) -> None:
        """Record a violation."""
        self.note("world", f"VIOLATION: {sentence}")
        self.found.append(sentence)

    def note(self, who: str, what: str) -> None:
        """Add a line to the trace."""
        if self._traced:
            self.trace.append(f"{self.time / SECOND:12.6f}  {who}: {what}")

    def run(self) -> None:
        """Run the schedule until its end."""
        while self._schedule:
            self.time, number, do = heapq.heappop(self._schedule)
            if self.time > _HORIZON or number > _EVENTS:
                self.violation("the schedule came to no rest")
                break
            do()
        for actor in list(self._running):
            if actor:  # the only reference to a running actor
                actor.throw(Crash)

    def start(self, actor: "Actor") -> None:
        """Start `actor`."""
        self._running[actor] = None
        self.after(0, actor.switch)

    def ended(self, actor: "Actor") -> None:
        """Remove `actor`."""
        self._running.pop(actor, None)

    def decide(self, actor: "Actor", what: str, possible: Sequence[Fault]) -> tuple[int, int]:
        """Return the index in `possible` of the fault at the next call of `actor`, or -1, and bits.

        The 64 bits are for further decisions of the call.
        """
        actor.decisions += 1
        name = f"{actor.name} #{actor.decisions}"
        bits = self.choices.number(name)
        plan = self.fault_plan
        if (bits & 0xFFFFFF) >= plan.chance * 0x1000000 or self._faults >= AT_MOST:
            return -1, bits
        fault = plan.kinds[(bits >> 24) % len(plan.kinds)]
        if fault not in possible or not self.choices.deviates(name, f"{what}: {fault.value}"):
            return -1, bits
        self._faults += 1
        self.faults.add(fault)
        self.note(actor.name, f"{what}: {fault.value}")
        return possible.index(fault), bits


class Actor(greenlet.greenlet):
    """One call of a use case in an instance, or a parallel part of a call.

    Attributes:
        notes: Data of the world about this actor.
        began: Time of its creation, in microseconds.
        end: Its end, or None.
    """

    def __init__(
        self,
        simulation: Simulation,
        name: str,
        instance: "Instance",
        work: Callable[[], Any],
        done: Callable[[End], None],
    ) -> None:
        """Run `work` in `instance`, and pass its end to `done`."""
        super().__init__(parent=simulation.hub)
        self.name = name
        self.instance = instance
        self.decisions = 0
        self.notes: dict[str, Any] = {}
        self.began = simulation.time
        self.end: End | None = None
        self._simulation = simulation
        self._work = work
        self._done = done
        self._turn = 0

    def run(self) -> None:
        """Run the work without raising."""
        self.instance.actors[self] = None
        end: End
        try:
            end = Returned(self._work()) if self.instance.alive else Died()
        except Crash:
            end = Died()
        except Exception as error:  # noqa: BLE001 - the caller handles it
            end = Raised(error)
        self.end = end
        self.instance.actors.pop(self, None)
        self._simulation.ended(self)
        self._simulation.after(0, lambda: self._done(end))

    def wait(self, microseconds: int | None) -> None:
        """Let others run for `microseconds`, or until `wake` is called.

        Raises:
            Crash: The instance crashed.
        """
        self._turn += 1
        turn = self._turn
        if microseconds is not None:
            self._simulation.after(microseconds, lambda: self._resume(turn))
        self._simulation.hub.switch()
        if not self.instance.alive:
            raise Crash

    def wake(self) -> None:
        """End the wait."""
        turn = self._turn
        self._simulation.after(0, lambda: self._resume(turn))

    def _resume(self, turn: int) -> None:
        if turn == self._turn and not self.dead:
            self._turn += 1
            self.switch()


def current() -> Actor:
    """Return the running actor."""
    actor = greenlet.getcurrent()
    if not isinstance(actor, Actor):
        raise TypeError("only an actor can do this")
    return actor


class Mutex:
    """A mutex of actors."""

    def __init__(self) -> None:
        self._inside = False
        self._waiting: list[Actor] = []

    def __enter__(self) -> None:
        while self._inside:
            actor = current()
            self._waiting.append(actor)
            actor.wait(None)
        self._inside = True

    def __exit__(self, *_: object) -> None:
        self._inside = False
        waiting, self._waiting = self._waiting, []
        for actor in waiting:
            actor.wake()


class Instance:
    """A process. Its actors share its objects and clocks, and end with it.

    Attributes:
        alive: Whether the instance is running.
        retired: Whether the instance gets no new work.
        actors: Its running actors.
    """

    def __init__(self, simulation: Simulation, name: str) -> None:
        """Start an instance. Its monotonic clock has any value, including zero."""
        self.simulation = simulation
        self.name = name
        self.alive = True
        self.retired = False
        self.actors: dict[Actor, None] = {}
        bits = simulation.choices.number(name)
        self._skew = bits % (2 * _SKEW + 1) - _SKEW
        self._started = simulation.time
        at_zero = bits >> 32 & 1 and simulation.choices.deviates(name, "its clock starts at zero")
        self._monotonic = 0.0 if at_zero else float((bits >> 33) % 1_000_000)

    @property
    def clock(self) -> Clock:
        """The clocks of this instance."""
        return Clock(self.now, self.monotonic, self.sleep)

    def now(self) -> datetime:
        """Return the time of this instance's clock."""
        return START + timedelta(microseconds=self.simulation.time + self._skew)

    def monotonic(self) -> float:
        """Return the monotonic time in seconds."""
        return self._monotonic + (self.simulation.time - self._started) / SECOND

    def sleep(self, seconds: float) -> None:
        """Wait."""
        actor = current()
        fault, bits = self.simulation.decide(actor, "sleep", ENDS_OR_WAITS)
        actor.wait(max(0, round(seconds * SECOND)))
        if fault >= 0:
            match ENDS_OR_WAITS[fault]:
                case Fault.CRASH_BEFORE:
                    self.crash()
                case Fault.PAUSE_BEFORE:
                    actor.wait(pause(bits))
                case _:
                    self.retired = True

    def call(
        self,
        what: str,
        effect: Callable[[], T],
        *,
        retried: bool = True,
        possible: Sequence[Fault] = EVERY,
    ) -> T:
        """Call a service. `effect` is atomic and happens before the response.

        Args:
            what: Name of the call, for the trace.
            effect: The work of the service. Its error is the response.
            retried: Whether the real adapter retries a call that may have succeeded.
            possible: The possible faults.

        Raises:
            ServiceError: The service failed before or after the effect.
            Crash: The instance crashed.
        """
        actor = current()
        place, bits = self.simulation.decide(actor, what, possible)
        actor.wait((bits >> 28) % _LATENCY)
        if place < 0:
            return self._answer(actor, what, effect, bits)
        fault = possible[place]
        match fault:
            case Fault.CRASH_BEFORE:
                self.crash()
            case Fault.ERROR_BEFORE:
                raise ServiceError(what)
            case Fault.PAUSE_BEFORE:
                actor.wait(pause(bits))
            case Fault.RETRIED_BEFORE if retried:
                actor.wait(bits % _RETRY)
            case Fault.RETRIED_AFTER if retried:
                _try(effect)
                actor.wait(bits % _RETRY)
            case Fault.CRASH_AFTER:
                _try(effect)
                self.crash()
            case Fault.ERROR_AFTER:
                _try(effect)
                raise ServiceError(what)
            case Fault.RESTART:
                self.retired = True
            case _:
                pass
        later = pause(bits) if fault is Fault.PAUSE_AFTER else 0
        return self._answer(actor, what, effect, bits, later)

    def _answer(
        self, actor: Actor, what: str, effect: Callable[[], T], bits: int, later: int = 0
    ) -> T:
        try:
            answer = effect()
        except Exception as error:
            self.simulation.note(actor.name, f"{what}: raises {type(error).__name__}")
            actor.wait(later + (bits >> 40) % _LATENCY)
            raise
        self.simulation.note(actor.name, what)
        actor.wait(later + (bits >> 40) % _LATENCY)
        return answer

    def crash(self) -> None:
        """End all actors of this instance.

        Raises:
            Crash: Always.
        """
        self.alive = False
        self.simulation.note(self.name, "crashes")
        for actor in self.actors:
            actor.wake()
        raise Crash

    def in_parallel(
        self, work: Callable[[Item], T], items: Iterable[Item], /, *, at_once: int = 20
    ) -> list[T]:
        """Run `work` as `functions.ports.ParallelMap` does, at most `at_once` at a time."""
        waiting = list(enumerate(items))
        results: dict[int, T] = {}
        errors: dict[int, Exception] = {}

        def thread() -> None:
            while waiting:
                place, item = waiting.pop(0)
                try:
                    results[place] = work(item)
                except Exception as error:  # noqa: BLE001 - raised below
                    errors[place] = error

        parent = current()
        if len(waiting) == 1:
            thread()
        else:
            running = min(at_once, len(waiting))

            def ended(_: End) -> None:
                nonlocal running
                running -= 1
                if not running:
                    parent.wake()

            for number in range(running):
                name = f"{parent.name}.{parent.decisions}.{number}"
                self.simulation.start(Actor(self.simulation, name, self, thread, ended))
            if running:
                parent.wait(None)
        if errors:
            raise errors[min(errors)]
        return [results[place] for place in sorted(results)]


def _try(effect: Callable[[], object]) -> None:
    """Run the effect and lose its response."""
    with contextlib.suppress(Exception):
        effect()


@dataclass(eq=False)
class Pool(Generic[Parts]):
    """The instances of one function. Work is assigned to any of them or to a new one.

    Attributes:
        simulation: The simulation.
        name: Name of the function.
        make: Creates the shared objects of a new instance.
        at_most: Maximum number of instances.
        expected: Errors that the work may raise. Any other error is a violation.
    """

    simulation: Simulation
    name: str
    make: Callable[[Instance], Parts]
    at_most: int = 2
    expected: tuple[type[Exception], ...] = (ServiceError,)

    def __post_init__(self) -> None:
        """Start without instances."""
        self._instances: list[tuple[Instance, Parts]] = []
        self._started = 0

    def run(
        self, name: str, work: Callable[[Parts], Any], done: Callable[[End], None] | None = None
    ) -> None:
        """Start `work` under a unique `name`, and pass its end to `done`."""
        instance, parts = self._instance(name)
        self.simulation.note(name, f"begins in {instance.name}")

        def ended(end: End) -> None:
            self.simulation.note(name, f"ended: {end}")
            if isinstance(end, Raised) and not isinstance(end.error, self.expected):
                self.simulation.violation(f"{name} raised {end.error!r}")
            if done is not None:
                done(end)

        self.simulation.start(Actor(self.simulation, name, instance, lambda: work(parts), ended))

    def _instance(self, name: str) -> tuple[Instance, Parts]:
        self._instances = [
            instance
            for instance in self._instances
            if instance[0].alive and not instance[0].retired
        ]
        fresh = len(self._instances) < self.at_most
        place = self.simulation.choices.number(f"{name} where") % (len(self._instances) + fresh)
        if place < len(self._instances):
            return self._instances[place]
        self._started += 1
        instance = Instance(self.simulation, f"{self.name}-{self._started}")
        self._instances.append((instance, self.make(instance)))
        return self._instances[-1]
