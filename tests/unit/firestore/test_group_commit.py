"""Calls of many threads, made together."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from functions.firestore.group_commit import GroupCommit, Turn


class Service:
    """Squares numbers; each call waits for its `go` where there is one, and none is beside another.

    -1 is refused by itself; -13 takes the whole group down.
    """

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.seconds: list[float] = []
        self.called = threading.Semaphore(0)
        self.go: threading.Semaphore | None = None
        self._alone = threading.Lock()

    def square(self, numbers: Sequence[int], seconds: float) -> Sequence[int | Exception]:
        """The call."""
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
    """A service of this test alone."""
    return Service()


def grouped(service: Service, at_most: int = 100) -> GroupCommit[int, int]:
    """Its calls, grouped."""
    return GroupCommit(service.square, at_most=at_most, seconds=25.0, turn=Turn(25.0))


def test_a_lone_caller_waits_for_nobody(service: Service) -> None:
    """A caller without others is a group of one."""
    square = grouped(service)
    assert [square(3), square(4)] == [9, 16]
    assert service.groups == [[3], [4]]


@contextmanager
def gathered(
    service: Service, square: GroupCommit[int, int], numbers: Sequence[int]
) -> Iterator[list[Future[int]]]:
    """The answers to `numbers`, asked together while a first call, for 100, was under way."""
    service.go = threading.Semaphore(0)
    with ThreadPoolExecutor(len(numbers) + 1) as threads:
        first = threads.submit(square, 100)
        assert service.called.acquire(timeout=60)
        rest = [threads.submit(square, number) for number in numbers]
        # Nothing else tells that they have come.
        wait_for(lambda: len(square._forming.items) == len(numbers))  # noqa: SLF001
        service.go.release(2)
        assert first.result(60) == 10_000
        yield rest
    service.go = None


def test_those_who_come_meanwhile_go_together(service: Service) -> None:
    """While a call is under way, the next group gathers; everybody gets their own answer."""
    with gathered(service, grouped(service), range(19)) as answers:
        assert [answer.result(60) for answer in answers] == [
            number * number for number in range(19)
        ]
    assert [len(group) for group in service.groups] == [1, 19]
    assert 0 < service.seconds[1] < 25, "the wait for the first is part of the time"


def test_a_group_has_its_limit(service: Service) -> None:
    """A call that finds the group full begins another."""
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


def test_what_goes_wrong_with_one_is_its_own(service: Service) -> None:
    """An item that fails leaves the other items of its group their results."""
    with gathered(service, grouped(service), [-1, 5]) as (bad, good):
        assert good.result(60) == 25
        with pytest.raises(ValueError, match="negative"):
            bad.result(60)


def test_what_goes_wrong_with_all_is_everybodys(service: Service) -> None:
    """The error of a call is raised for its whole group; the next group is called."""
    square = grouped(service)
    with gathered(service, square, [-13, 5]) as answers:
        for answer in answers:
            with pytest.raises(ConnectionError):
                answer.result(60)
    assert square(6) == 36


def test_many_at_once(service: Service) -> None:
    """Each of 2,000 callers gets the result for its own item."""
    square = grouped(service, at_most=7)
    with ThreadPoolExecutor(40) as threads:
        assert list(threads.map(square, range(2000))) == [number * number for number in range(2000)]


def test_a_stuck_call_holds_up_its_own_group_alone() -> None:
    """Only the first caller after a stuck call waits, and no longer than the patience."""
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
    """While a call of one kind is under way, callers of the other kind gather as well."""
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
    """Wait until other threads have come to where `condition` holds; nothing tells of it."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
