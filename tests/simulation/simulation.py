"""One schedule: a virtual clock, instances that run real code on it, and what goes wrong at calls.

Code under test runs in coroutines (greenlets: plain code that is switched at any depth). A
coroutine is switched at every call of a port, at `sleep`, and at `in_parallel`; everything in
between happens at one moment of the virtual clock. Time is in whole microseconds.
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
from tests.simulation.faults import AT_MOST, ENDS_OR_WAITS, EVERY, Fault, Weather, pause

T = TypeVar("T")
Item = TypeVar("Item")
Parts = TypeVar("Parts")

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

START: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
"""When every schedule begins."""

_LATENCY: Final = 40_000
"""Before the effect of a call, at most; as much again after it."""

_RETRY: Final = 2 * SECOND
"""What an adapter waits before it tries again, at most."""

_SKEW: Final = 200_000
"""How wrong the clock of an instance may be, either way."""

_HORIZON: Final = 72 * HOUR
_EVENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Returned:
    """The call of a use case came to its end."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The call of a use case raised."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Died:
    """The instance crashed under it."""


End: TypeAlias = Returned | Raised | Died


class Simulation:
    """The clock and the schedule.

    Attributes:
        time: Microseconds since `START`.
        choices: Where every decision comes from.
        faults: What has gone wrong so far.
        found: What was seen to be wrong on the way.
        hub: The coroutine that goes through the schedule; actors switch back to it.
        trace: What happened, where it is traced.
    """

    def __init__(self, choices: Choices, *, traced: bool = False) -> None:
        """Nothing is on the schedule yet."""
        self.time = 0
        self.choices = choices
        self.weather = Weather.of(choices)
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
        """Have something done `microseconds` from now."""
        self._entries += 1
        heapq.heappush(self._schedule, (self.time + microseconds, self._entries, do))

    def violation(self, sentence: str) -> None:
        """Something happened that never may."""
        self.note("world", f"VIOLATION: {sentence}")
        self.found.append(sentence)

    def note(self, who: str, what: str) -> None:
        """Put something into the trace."""
        if self._traced:
            self.trace.append(f"{self.time / SECOND:12.6f}  {who}: {what}")

    def run(self) -> None:
        """Go through the schedule until everything is at rest."""
        while self._schedule:
            self.time, number, do = heapq.heappop(self._schedule)
            if self.time > _HORIZON or number > _EVENTS:
                self.violation("the schedule came to no rest")
                break
            do()
        for actor in list(self._running):
            if actor:  # one that has begun; nothing else holds it
                actor.throw(Crash)

    def start(self, actor: "Actor") -> None:
        """Run `actor` from now on."""
        self._running[actor] = None
        self.after(0, actor.switch)

    def ended(self, actor: "Actor") -> None:
        """Forget `actor`."""
        self._running.pop(actor, None)

    def decide(self, actor: "Actor", what: str, possible: Sequence[Fault]) -> tuple[int, int]:
        """The place in `possible` of the fault at the next call of `actor`, or -1; and bits.

        64 bits come with it for further decisions of the call.
        """
        actor.decisions += 1
        name = f"{actor.name} #{actor.decisions}"
        bits = self.choices.number(name)
        weather = self.weather
        if (bits & 0xFFFFFF) >= weather.chance * 0x1000000 or self._faults >= AT_MOST:
            return -1, bits
        fault = weather.kinds[(bits >> 24) % len(weather.kinds)]
        if fault not in possible or not self.choices.deviates(name, f"{what}: {fault.value}"):
            return -1, bits
        self._faults += 1
        self.faults.add(fault)
        self.note(actor.name, f"{what}: {fault.value}")
        return possible.index(fault), bits


class Actor(greenlet.greenlet):
    """One call of a use case, in an instance; or a part of it that runs in parallel with others.

    Attributes:
        notes: What a world wants to remember of it.
        began: When it was made, in microseconds.
        end: How it ended, once it has.
    """

    def __init__(
        self,
        simulation: Simulation,
        name: str,
        instance: "Instance",
        work: Callable[[], Any],
        done: Callable[[End], None],
    ) -> None:
        """Do `work` in `instance`, and tell `done` how it ended."""
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
        """Work; never raises."""
        self.instance.actors[self] = None
        end: End
        try:
            end = Returned(self._work()) if self.instance.alive else Died()
        except Crash:
            end = Died()
        except Exception as error:  # noqa: BLE001 - the caller decides what it means
            end = Raised(error)
        self.end = end
        self.instance.actors.pop(self, None)
        self._simulation.ended(self)
        self._simulation.after(0, lambda: self._done(end))

    def wait(self, microseconds: int | None) -> None:
        """Let others run for so long, or until somebody wakes this one.

        Raises:
            Crash: the instance is gone.
        """
        self._turn += 1
        turn = self._turn
        if microseconds is not None:
            self._simulation.after(microseconds, lambda: self._resume(turn))
        self._simulation.hub.switch()
        if not self.instance.alive:
            raise Crash

    def wake(self) -> None:
        """Run on from now, without waiting any longer."""
        turn = self._turn
        self._simulation.after(0, lambda: self._resume(turn))

    def _resume(self, turn: int) -> None:
        if turn == self._turn and not self.dead:
            self._turn += 1
            self.switch()


def current() -> Actor:
    """The actor that runs at this moment."""
    actor = greenlet.getcurrent()
    if not isinstance(actor, Actor):
        raise TypeError("only an actor can do this")
    return actor


class OneAtATime:
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
    """A process: what runs in it shares its objects and clocks, and dies with it.

    Attributes:
        alive: Whether it has not crashed.
        retired: Whether new work goes elsewhere.
        actors: What runs in it.
    """

    def __init__(self, simulation: Simulation, name: str) -> None:
        """A fresh one: its monotonic clock stands anywhere, or at zero."""
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
        """Its clocks."""
        return Clock(self.now, self.monotonic, self.sleep)

    def now(self) -> datetime:
        """The time, as far as this instance knows."""
        return START + timedelta(microseconds=self.simulation.time + self._skew)

    def monotonic(self) -> float:
        """Seconds that only grow."""
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
        """Call a service: `effect` happens at one moment, some time before the answer.

        Args:
            what: Name of the call, for the trace.
            effect: What the service does; what it raises is its answer.
            retried: Whether the real adapter tries again what may have worked.
            possible: What may go wrong.

        Raises:
            ServiceError: the service failed, whether before or after the effect.
            Crash: the instance is gone.
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
        """End everything that runs in this instance, at once.

        Raises:
            Crash: always.
        """
        self.alive = False
        self.simulation.note(self.name, "crashes")
        for actor in self.actors:
            actor.wake()
        raise Crash

    def in_parallel(
        self, work: Callable[[Item], T], items: Iterable[Item], /, *, at_once: int = 20
    ) -> list[T]:
        """See `functions.ports.ParallelMap`; no more than `at_once` at a time."""
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
    """Have the effect, and lose its answer."""
    with contextlib.suppress(Exception):
        effect()


@dataclass(eq=False)
class Pool(Generic[Parts]):
    """The instances of one function: work goes to any of them, or to a fresh one.

    Attributes:
        simulation: Where they run.
        name: Of the function.
        make: Gives a fresh instance the objects that all work in it shares.
        at_most: Instances that take work at the same time.
        expected: What the work may raise; anything else is a violation.
    """

    simulation: Simulation
    name: str
    make: Callable[[Instance], Parts]
    at_most: int = 2
    expected: tuple[type[Exception], ...] = (ServiceError,)

    def __post_init__(self) -> None:
        """Make no instance yet."""
        self._instances: list[tuple[Instance, Parts]] = []
        self._started = 0

    def run(
        self, name: str, work: Callable[[Parts], Any], done: Callable[[End], None] | None = None
    ) -> None:
        """Begin `work` now, under a `name` that no other work has; tell `done` how it ended."""
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
