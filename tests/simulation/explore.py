"""Runs many schedules of a world. A failing schedule is shrunk and repeated with its trace.

To add a world:

1. Write a class (a `World`) whose constructor accepts a `Simulation`. It has the state of the
   services (documents, queues, results of receivers and guests), creates a `Pool` for each function
   with the real use cases on in-memory adapters, and schedules its first events
   (`simulation.after`, `Pool.run`). Each decision uses `simulation.choices` with a unique name and
   the plain course first, so that it can be repeated and shrunk.
2. An adapter does the work of each method in `instance.call("store.method", effect)`. The effect is
   atomic, and raises the errors of the real service. Pass that call to the adapter as a parameter
   (`tests.in_memory.through`), so that unit tests can use the adapter as well.
3. A use case gets `now`, `monotonic`, `sleep` and `in_parallel` from its `Instance`.
4. Report violations during a schedule with `simulation.violation`. `violations` returns those at
   the end of the schedule.
5. Add it to `worlds.WORLDS`, which the tests, the command line and the mutants use.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias
from unittest import mock

from functions import log
from tests.simulation.choices import Choices
from tests.simulation.simulation import Simulation

_RUNS_TO_SHRINK: Final = 2000


class World(Protocol):
    """The environment of a schedule."""

    def violations(self) -> Iterable[str]:
        """Return the violations at the end of the schedule, a sentence each."""


MakeWorld: TypeAlias = Callable[[Simulation], World]


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one schedule."""

    seed: int
    violations: tuple[str, ...]
    deviations: Mapping[str, str]
    trace: Sequence[str]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the millions of log lines."""

    def nothing(*_: Any) -> None:
        pass

    with mock.patch.object(log, "_write", nothing):
        yield


def run(make: MakeWorld, seed: int, dropped: Collection[str] = (), *, traced: bool = False) -> Run:
    """Run the schedule of `seed` without the `dropped` decisions."""
    simulation = Simulation(Choices(seed, dropped), traced=traced)
    world = make(simulation)
    simulation.run()
    violations = (*simulation.found, *world.violations())
    return Run(seed, violations, simulation.choices.deviations, simulation.trace)


def first_violation(make: MakeWorld, seeds: Iterable[int]) -> Run | None:
    """Return the first schedule with a violation, or None."""
    with quiet():
        runs = (run(make, seed) for seed in seeds)
        return next((run for run in runs if run.violations), None)


def shrink(make: MakeWorld, failed: Run) -> Run:
    """Drop as many deviations as possible while a violation remains. Return it with its trace."""
    with quiet():
        best = failed
        dropped: set[str] = set()
        size, runs = max(1, len(best.deviations) // 2), 0
        while runs < _RUNS_TO_SHRINK:
            smaller = False
            names = list(best.deviations)
            for first in range(0, len(names), size):
                some = set(names[first : first + size]) & set(best.deviations)
                if not some:
                    continue
                runs += 1
                tried = run(make, failed.seed, dropped | some)
                if tried.violations:
                    dropped |= some
                    best, smaller = tried, True
            if size == 1 and not smaller:
                break
            size = size if smaller and size == 1 else max(1, size // 2)
        return run(make, failed.seed, dropped, traced=True)


def report(name: str, make: MakeWorld, failed: Run) -> str:
    """Describe a schedule's violations, its shrunk deviations, and the command to repeat it."""
    least = shrink(make, failed)
    return "\n".join(
        [
            f"seed {failed.seed} of the world {name}: {failed.violations[0]}",
            f"run it again: python -m tests.simulation {name} --seed {failed.seed} --schedules 1",
            f"{len(failed.deviations)} deviations. These are enough:",
            *(f"  {where}: {choice}" for where, choice in least.deviations.items()),
            *least.violations,
            "trace:",
            *least.trace,
        ]
    )


def explore(name: str, make: MakeWorld, seeds: Sequence[int]) -> str | None:
    """Run the schedules. Return a report about the first violation, or None."""
    failed = first_violation(make, seeds)
    return report(name, make, failed) if failed else None


def timed(name: str, make: MakeWorld, seeds: Sequence[int]) -> bool:
    """Run the schedules and print the result. Return whether there was no violation."""
    began = time.monotonic()
    failure = explore(name, make, seeds)
    seconds = time.monotonic() - began
    if failure is None:
        print(f"{name}: {len(seeds):,} schedules from {seeds[0]} on, no violation, {seconds:.1f} s")
        return True
    print(failure)
    return False
