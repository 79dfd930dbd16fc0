"""The simulation finds races between two calls, and shrinks their schedules."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from functions.firestore.model import ChangedMeanwhileError, Create, Update
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.through import ServiceError
from tests.simulation.choices import Choices
from tests.simulation.explore import first_violation, report, run, shrink
from tests.simulation.simulation import Instance, Pool, Simulation

PATH = "counters/c1"


class Counting:
    """Two actors add one each with a read and a write. Correct only with a version check."""

    def __init__(self, simulation: Simulation, *, with_version: bool = False) -> None:
        """Start both actors."""
        self._firestore = Firestore(lambda: simulation.now)
        self._firestore.commit(Create(PATH, {"n": 0}))
        self._with_version = with_version
        pool: Pool[Instance] = Pool(simulation, "adder", lambda instance: instance)
        for number in range(2):
            pool.run(f"add {number}", self._add)

    def _add(self, instance: Instance) -> None:
        documents = InMemoryDocuments(self._firestore, instance.call)
        while True:
            found = documents.get(PATH)
            assert found is not None
            version = found.version if self._with_version else None
            try:
                documents.commit(Update(PATH, {"n": found.fields["n"] + 1}, version=version))
            except ChangedMeanwhileError:
                continue
            return

    def violations(self) -> Iterator[str]:
        """Check that the sum is two."""
        found = self._firestore.get(PATH)
        if found is None or found.fields["n"] != 2:
            yield "an addition got lost"


def smooth(make: Callable[[Simulation], Any]) -> Callable[[Simulation], Any]:
    """Return a `make` without faults."""

    def made(simulation: Simulation) -> Any:
        simulation.fault_plan = type(simulation.fault_plan)(0.0, simulation.fault_plan.kinds)
        return make(simulation)

    return made


def test_two_instances_interleave_at_every_call() -> None:
    """Write between another instance's read and write, without any fault."""
    assert first_violation(smooth(Counting), range(20)) is not None
    assert first_violation(smooth(lambda s: Counting(s, with_version=True)), range(20)) is None


def test_a_seed_is_reproducible() -> None:
    """Return the same trace, faults and end each time."""
    first, again = (run(Counting, 7, traced=True) for _ in range(2))
    assert first == again
    assert first.trace


def test_a_failing_schedule_is_shrunk_to_the_necessary_faults() -> None:
    """Shrink to one fault, which is enough to lose an addition with a version check."""
    make = lambda s: Counting(s, with_version=True)  # noqa: E731
    failed = first_violation(make, range(500))
    assert failed is not None
    least = shrink(make, failed)
    assert least.violations
    assert len(least.deviations) == 1
    assert f"--seed {failed.seed}" in report("counting", make, failed)


class Crashing:
    """One actor crashes while another one of the same instance waits."""

    def __init__(self, simulation: Simulation) -> None:
        """Start both in one instance."""
        self.log: list[str] = []
        pool: Pool[Instance] = Pool(simulation, "one", lambda instance: instance, at_most=1)
        pool.run("waits", self._wait, lambda end: self.log.append(repr(end)))
        pool.run("crashes", self._crash, lambda end: self.log.append(repr(end)))

    def _wait(self, instance: Instance) -> None:
        try:
            instance.in_parallel(lambda _: instance.sleep(3600), range(3))
        except Exception:  # noqa: BLE001
            self.log.append("held up")
        self.log.append("went on")

    def _crash(self, instance: Instance) -> None:
        instance.crash()

    def violations(self) -> list[str]:
        """Return the log."""
        return self.log


def test_a_crash_ends_every_actor_of_the_instance() -> None:
    """End actors that have an `except Exception` as well."""
    assert run(smooth(Crashing), 1).violations == ("Died()", "Died()")


class Together:
    """Three parallel pieces of work. The second one raises."""

    def __init__(self, simulation: Simulation) -> None:
        """Start one actor."""
        self.ends: list[str] = []
        pool: Pool[Instance] = Pool(simulation, "one", lambda instance: instance)
        pool.run("all", self._all, lambda end: self.ends.append(repr(end)))
        self._done: list[int] = []

    def _all(self, instance: Instance) -> list[int]:
        def work(number: int) -> int:
            instance.sleep(3 - number)
            self._done.append(number)
            if number == 1 and len(self._done) > 3:
                raise ServiceError("no")
            return number * 10

        first = instance.in_parallel(work, range(3))
        assert self._done == [2, 1, 0]
        assert instance.in_parallel(work, []) == []
        with pytest.raises(ServiceError):
            instance.in_parallel(work, range(3))
        assert sorted(self._done) == [0, 0, 1, 1, 2, 2]
        return first

    def violations(self) -> list[str]:
        """Return the end."""
        return self.ends


def test_in_parallel_runs_concurrently() -> None:
    """Return results in the items' order. The first error is raised after all have ended."""
    assert run(smooth(Together), 1).violations == ("Returned(value=[0, 10, 20])",)


def test_a_dropped_decision_takes_the_plain_course() -> None:
    """Keep all other decisions."""
    free, bound = Choices(3), Choices(3, {"b"})
    names = ["a", "b", "c", "d", "e"]
    options = range(8)
    before = [free.pick(name, options) for name in names]
    after = [bound.pick(name, options) for name in names]
    assert after == [0 if name == "b" else value for name, value in zip(names, before, strict=True)]
    assert set(bound.deviations) == set(free.deviations) - {"b"}
