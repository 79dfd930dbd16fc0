"""Services that call a function until it succeeds: Cloud Tasks and Eventarc.

Calls are at-least-once: they may be duplicated, early or late, and are retried after a failure or a
timeout. After a timeout, the first call is still running during the retry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from emulator.provider_models import eventarc as eventarc_model
from emulator.provider_models.cloud_tasks import RetryPolicy
from tests.simulation.faults import pause
from tests.simulation.simulation import SECOND, START, End, Returned, Simulation

Begin: TypeAlias = Callable[[str, Callable[[End], None]], None]
"""Starts a call under a name, and passes its end to the function.

The name ends with a slash and the number of the call. All earlier calls failed."""

Backoff: TypeAlias = Callable[[int], float]
"""Returns the seconds between a call and the next one, after a number of calls."""

_EVERY_SECOND: Final = RetryPolicy(100, 0, 1, 1, 0)
_LATENCY: Final = 60_000
_TWICE: Final = (0.0, 0.0, 0.05, 0.3)
_MUCH_LATER: Final = 0.3
_LATE: Final = (0.0, 0.0, 0.02, 0.1)
_EARLY: Final = (0.0, 0.0, 0.1)
_LOST: Final = (0.0, 0.0, 0.1)


@dataclass(eq=False)
class Service:
    """Calls functions.

    Attributes:
        simulation: The simulation.
        name: Name of the service in decisions.
        answer_within: Microseconds after which a call counts as failed.
        backoff: Default backoff of failed calls.
        loses: Whether the service may drop a call after a failure.
    """

    simulation: Simulation
    name: str
    answer_within: int
    backoff: Backoff
    loses: bool

    def __post_init__(self) -> None:
        """Start without calls."""
        name, choices = self.name, self.simulation.choices
        self._twice = choices.pick(f"{name} twice", _TWICE)
        self._late = choices.pick(f"{name} late", _LATE)
        self._early = choices.pick(f"{name} early", _EARLY)
        self._lost = choices.pick(f"{name} lost", _LOST) if self.loses else 0.0
        self.under_way = 0
        self.unpunctual = False
        self.repeats = False

    def call(
        self,
        name: str,
        begin: Begin,
        *,
        due: datetime = START,
        backoff: Backoff | None = None,
        delays: Sequence[int] = (),
    ) -> None:
        """Call `begin` when it is due. `delays` are the possible delays of a late call."""
        choices, simulation = self.simulation.choices, self.simulation
        wait = max((due - START) // timedelta(microseconds=1) - simulation.time, 0)
        self._chain(f"{name} 1", begin, self._delay(name, wait, delays), backoff)
        if choices.happens(f"{name} twice", self._twice, "dispatched twice"):
            self.repeats = True
            apart = choices.between(f"{name} 2", 0, _LATENCY)
            if choices.happens(f"{name} 2 late", _MUCH_LATER, "the second one late"):
                apart = pause(choices.number(f"{name} 2 how late"))
            self._chain(f"{name} 2", begin, wait + apart, backoff)

    def _delay(self, name: str, wait: int, delays: Sequence[int]) -> int:
        choices = self.simulation.choices
        latency = choices.between(f"{name} latency", 0, _LATENCY)
        if wait and choices.happens(f"{name} early", self._early, "dispatched early"):
            return wait * choices.between(f"{name} how early", 0, 9) // 10 + latency
        if choices.happens(f"{name} late", self._late, "dispatched late"):
            self.unpunctual = True
            if delays:
                return wait + choices.one_of(f"{name} how late", delays)
            return wait + pause(choices.number(f"{name} how late"))
        return wait + latency

    def _chain(self, name: str, begin: Begin, delay: int, backoff: Backoff | None) -> None:
        """Call until the call succeeds."""
        simulation = self.simulation
        wait = backoff or self.backoff
        calls = 0
        self.under_way += 1

        def call() -> None:
            nonlocal calls
            calls += 1
            number, answered = calls, False

            def answer(end: End | None) -> None:
                nonlocal answered
                if answered:
                    return
                answered = True
                if isinstance(end, Returned):
                    self.under_way -= 1
                elif simulation.choices.happens(f"{name}/{number} lost", self._lost, "given up"):
                    self.unpunctual = True
                    self.under_way -= 1
                else:
                    simulation.after(round(wait(calls) * SECOND), call)

            begin(f"{name}/{number}", answer)
            simulation.after(self.answer_within, lambda: answer(None))

        simulation.after(delay, call)


def eventarc(simulation: Simulation) -> Service:
    """Return Eventarc: it calls a trigger for each write, with a timeout of two minutes."""
    return Service(simulation, "Eventarc", 120 * SECOND, eventarc_model.backoff, loses=False)


def cloud_tasks(simulation: Simulation) -> Service:
    """Return Cloud Tasks: it calls a worker for each task, with a timeout of a minute."""
    return Service(simulation, "CloudTasks", 60 * SECOND, _EVERY_SECOND.backoff, loses=True)
