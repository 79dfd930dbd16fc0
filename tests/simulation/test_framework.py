"""The simulation itself: it finds what goes wrong between two calls, and shows it small."""

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
    """Two actors add one each, by a read and a write: right only with the version, and luck."""

    def __init__(self, simulation: Simulation, *, with_version: bool = False) -> None:
        """Both begin at once."""
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
        """It counts to two."""
        found = self._firestore.get(PATH)
        if found is None or found.fields["n"] != 2:
            yield "an addition got lost"


def smooth(make: Callable[[Simulation], Any]) -> Callable[[Simulation], Any]:
    """`make` in a world in which nothing fails."""

    def made(simulation: Simulation) -> Any:
        simulation.weather = type(simulation.weather)(0.0, simulation.weather.kinds)
        return make(simulation)

    return made


def test_two_instances_interleave_at_every_call() -> None:
    """Without any fault, one instance may write between the other's read and write."""
    assert first_violation(smooth(Counting), range(20)) is not None
    assert first_violation(smooth(lambda s: Counting(s, with_version=True)), range(20)) is None


def test_faults_lose_what_no_fault_loses() -> None:
    """An answer that is lost, a crash, an error: the addition is lost, or made twice."""
    assert first_violation(lambda s: Counting(s, with_version=True), range(500)) is not None


def test_a_seed_runs_the_same_again() -> None:
    """A seed gives the same trace, faults and end each time."""
    first, again = (run(Counting, 7, traced=True) for _ in range(2))
    assert first == again
    assert first.trace


def test_what_fails_is_shrunk_to_what_it_takes() -> None:
    """One fault is enough to lose an addition that is made under its version."""
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
        """Both in one instance."""
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
        """What was logged."""
        return self.log


def test_a_crash_ends_all_that_runs_in_the_instance() -> None:
    """A crash ends every actor of its instance; no `except Exception` holds the crash up."""
    assert run(smooth(Crashing), 1).violations == ("Died()", "Died()")


class Together:
    """Three pieces of work in parallel; the second raises."""

    def __init__(self, simulation: Simulation) -> None:
        """One actor."""
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
        """How it ended."""
        return self.ends


def test_in_parallel_is_at_the_same_time() -> None:
    """Results in the order of the items; what the first that failed raised, after all."""
    assert run(smooth(Together), 1).violations == ("Returned(value=[0, 10, 20])",)


def test_a_decision_that_is_taken_back_takes_the_plain_course() -> None:
    """A decision that is taken back leaves all others as they were."""
    free, bound = Choices(3), Choices(3, {"b"})
    names = ["a", "b", "c", "d", "e"]
    options = range(8)
    before = [free.pick(name, options) for name in names]
    after = [bound.pick(name, options) for name in names]
    assert after == [0 if name == "b" else value for name, value in zip(names, before, strict=True)]
    assert set(bound.deviations) == set(free.deviations) - {"b"}
