"""Values that a process creates once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from functions.cache import once

THREADS = 16


def test_threads_that_call_first_at_the_same_time_share_one_result() -> None:
    """Sixteen threads call during the first call."""
    start, inside = threading.Barrier(THREADS), threading.Barrier(2)
    made: list[object] = []

    @once
    def make() -> object:
        with suppress(threading.BrokenBarrierError):
            inside.wait(0.5)  # for a second thread, which must not arrive
        made.append(object())
        return made[-1]

    def ask() -> object:
        start.wait(60)
        return make()

    with ThreadPoolExecutor(THREADS) as threads:
        found = [asking.result(60) for asking in [threads.submit(ask) for _ in range(THREADS)]]
    assert found == made * THREADS


def test_a_cached_function_can_call_another() -> None:
    """Threads call both concurrently without a deadlock."""
    start = threading.Barrier(THREADS)

    @once
    def inner() -> object:
        return object()

    @once
    def outer() -> tuple[object, object]:
        return inner(), object()

    def ask(place: int) -> object:
        start.wait(60)
        return outer()[0] if place % 2 else inner()

    with ThreadPoolExecutor(THREADS) as threads:
        found = [asking.result(60) for asking in [threads.submit(ask, n) for n in range(THREADS)]]
    assert found == [inner()] * THREADS


def test_an_error_is_not_cached() -> None:
    """The caller gets it, and the next call tries again."""
    calls: list[str] = []

    @once
    def make() -> int:
        calls.append("")
        if len(calls) == 1:
            raise ConnectionError
        return len(calls)

    with pytest.raises(ConnectionError):
        make()
    assert [make(), make()] == [2, 2]
