"""Many schedules of a world: what fails is run again with its trace, and shrunk.

To add a world:

1. Write a class that is made with a `Simulation` (a `World`). It keeps what the services keep
   (documents, queues, what receivers and guests got), makes a `Pool` for each function with the
   real use cases on in-memory adapters, and puts its first events on the schedule
   (`simulation.after`, `Pool.run`). Each decision is made with `simulation.choices`,
   under a name of its own, the plain course first: then it can be run again, and shrunk.
2. An adapter does each method's work in `instance.call("store.method", effect)`: the effect happens
   at one moment, and what the real service would raise is raised in there. Let the adapter take
   that call as a parameter (`tests.in_memory.through`), so that unit tests use it as well.
3. `now`, `monotonic`, `sleep` and `in_parallel` of a use case are those of its `Instance`.
4. Violations on the way go to `simulation.violation`; `violations` names the violations once
   everything is at rest.
5. Name it in `worlds.WORLDS`. The tests, the command line and the mutants take it from there.
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
    """What a schedule runs in."""

    def violations(self) -> Iterable[str]:
        """The violations when everything is at rest: a sentence each."""


MakeWorld: TypeAlias = Callable[[Simulation], World]


@dataclass(frozen=True, slots=True)
class Run:
    """How one schedule went."""

    seed: int
    violations: tuple[str, ...]
    deviations: Mapping[str, str]
    trace: Sequence[str]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Write no log lines: there would be millions."""

    def nothing(*_: Any) -> None:
        pass

    with mock.patch.object(log, "_write", nothing):
        yield


def run(make: MakeWorld, seed: int, dropped: Collection[str] = (), *, traced: bool = False) -> Run:
    """Go through the schedule of `seed`, without the decisions that are `dropped`."""
    simulation = Simulation(Choices(seed, dropped), traced=traced)
    world = make(simulation)
    simulation.run()
    violations = (*simulation.found, *world.violations())
    return Run(seed, violations, simulation.choices.deviations, simulation.trace)


def first_violation(make: MakeWorld, seeds: Iterable[int]) -> Run | None:
    """The first of the schedules that has one; None where none has."""
    with quiet():
        runs = (run(make, seed) for seed in seeds)
        return next((run for run in runs if run.violations), None)


def shrink(make: MakeWorld, failed: Run) -> Run:
    """Take back as many deviations as can be while something is still wrong; with its trace."""
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
    """What went wrong in a schedule, how little of it does, and how to see it again."""
    least = shrink(make, failed)
    return "\n".join(
        [
            f"seed {failed.seed} of the world {name}: {failed.violations[0]}",
            f"run it again: python -m tests.simulation {name} --seed {failed.seed} --schedules 1",
            f"{len(failed.deviations)} deviations, of which these are enough:",
            *(f"  {where}: {choice}" for where, choice in least.deviations.items()),
            *least.violations,
            "trace:",
            *least.trace,
        ]
    )


def explore(name: str, make: MakeWorld, seeds: Sequence[int]) -> str | None:
    """Run the schedules; the report of the first that has a violation."""
    failed = first_violation(make, seeds)
    return report(name, make, failed) if failed else None


def timed(name: str, make: MakeWorld, seeds: Sequence[int]) -> bool:
    """Run the schedules, and print how it went; whether all were right."""
    began = time.monotonic()
    failure = explore(name, make, seeds)
    seconds = time.monotonic() - began
    if failure is None:
        print(f"{name}: {len(seeds):,} schedules from {seeds[0]} on, no violation, {seconds:.1f} s")
        return True
    print(failure)
    return False
