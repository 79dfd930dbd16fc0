"""Calls of many threads, sent as one."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from functions.firestore.group_commit import GroupCommit, Turn


class Service:
    """A service that squares numbers, one call at a time.

    A call waits for `go` if it is set. The number -1 fails alone. The number -13 fails its group.
    """

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.seconds: list[float] = []
        self.called = threading.Semaphore(0)
        self.go: threading.Semaphore | None = None
        self._alone = threading.Lock()

    def square(self, numbers: Sequence[int], seconds: float) -> Sequence[int | Exception]:
        """Return the squares, or an error for each number that fails."""
        assert self._alone.acquire(blocking=False), "two groups at a time"
        try:
            self.groups.append(list(numbers))
            self.seconds.append(seconds)
            self.called.release()
            if self.go:
                assert self.go.acquire(timeout=60)
            if -13 in numbers:
                raise ConnectionError("down")
            return [
                ValueError("negative") if number == -1 else number * number for number in numbers
            ]
        finally:
            self._alone.release()


@pytest.fixture
def service() -> Service:
    """Return a new service."""
    return Service()


def grouped(service: Service, at_most: int = 100) -> GroupCommit[int, int]:
    """Return the function that groups calls of the service."""
    return GroupCommit(service.square, at_most=at_most, seconds=25.0, turn=Turn(25.0))


def test_a_single_caller_does_not_wait(service: Service) -> None:
    """It is a group of one."""
    square = grouped(service)
    assert [square(3), square(4)] == [9, 16]
    assert service.groups == [[3], [4]]


@contextmanager
def gathered(
    service: Service, square: GroupCommit[int, int], numbers: Sequence[int]
) -> Iterator[list[Future[int]]]:
    """Ask for `numbers` during a first call, for 100, and yield the answers."""
    service.go = threading.Semaphore(0)
    with ThreadPoolExecutor(len(numbers) + 1) as threads:
        first = threads.submit(square, 100)
        assert service.called.acquire(timeout=60)
        rest = [threads.submit(square, number) for number in numbers]
        # There is no public sign that they have arrived.
        wait_for(lambda: len(square._forming.items) == len(numbers))  # noqa: SLF001
        service.go.release(2)
        assert first.result(60) == 10_000
        yield rest
    service.go = None


def test_callers_during_a_call_form_the_next_group(service: Service) -> None:
    """Each caller gets its own answer."""
    with gathered(service, grouped(service), range(19)) as answers:
        assert [answer.result(60) for answer in answers] == [
            number * number for number in range(19)
        ]
    assert [len(group) for group in service.groups] == [1, 19]
    assert 0 < service.seconds[1] < 25, "the timeout includes the wait for the first call"


def test_a_group_has_a_maximum_size(service: Service) -> None:
    """A call that finds the group full starts another."""
    square = grouped(service, at_most=4)
    service.go = threading.Semaphore(0)
    with ThreadPoolExecutor(11) as threads:
        first = threads.submit(square, 0)
        assert service.called.acquire(timeout=60)
        rest = [threads.submit(square, number) for number in range(10)]
        service.go.release(11)
        assert first.result(60) == 0
        assert [future.result(60) for future in rest] == [number * number for number in range(10)]
    assert max(map(len, service.groups)) <= 4
    assert sum(map(len, service.groups)) == 11


def test_an_error_of_one_item_does_not_affect_the_others(service: Service) -> None:
    """Only its caller gets the error."""
    with gathered(service, grouped(service), [-1, 5]) as (bad, good):
        assert good.result(60) == 25
        with pytest.raises(ValueError, match="negative"):
            bad.result(60)


def test_an_error_of_the_call_is_raised_for_its_whole_group(service: Service) -> None:
    """The next group is still called."""
    square = grouped(service)
    with gathered(service, square, [-13, 5]) as answers:
        for answer in answers:
            with pytest.raises(ConnectionError):
                answer.result(60)
    assert square(6) == 36


def test_each_of_many_callers_gets_its_own_result(service: Service) -> None:
    """Run 2,000 calls in 40 threads."""
    square = grouped(service, at_most=7)
    with ThreadPoolExecutor(40) as threads:
        assert list(threads.map(square, range(2000))) == [number * number for number in range(2000)]


def test_a_stuck_call_delays_the_next_group_only_briefly() -> None:
    """Only the first caller waits, for the timeout of its turn."""
    stuck, release = threading.Event(), threading.Event()

    def ask(numbers: Sequence[int], _: float) -> Sequence[int | Exception]:
        if 0 in numbers:
            stuck.set()
            assert release.wait(60)
        return list(numbers)

    echo = GroupCommit[int, int](ask, at_most=100, seconds=25.0, turn=Turn(0.01))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(echo, 0)
        assert stuck.wait(60)
        assert [echo(number) for number in range(1, 20)] == list(range(1, 20))
        assert not first.done()
        release.set()
        assert first.result(60) == 0


def test_groups_of_two_kinds_take_turns(service: Service) -> None:
    """During a call of one kind, callers of the other kind also gather."""
    turn = Turn(25.0)
    square, negative = (
        GroupCommit[int, int](call, at_most=100, seconds=25.0, turn=turn)
        for call in (service.square, lambda numbers, _: [-number for number in numbers])
    )
    service.go = threading.Semaphore(0)
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(square, 100)
        assert service.called.acquire(timeout=60)
        rest = [threads.submit(negative, number) for number in range(3)]
        wait_for(lambda: len(negative._forming.items) == 3)  # noqa: SLF001
        assert not any(answer.done() for answer in rest)
        service.go.release()
        assert [answer.result(60) for answer in (first, *rest)] == [10_000, 0, -1, -2]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until other threads have made `condition` true. There is no event to wait for."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
