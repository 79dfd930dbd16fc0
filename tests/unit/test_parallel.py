"""Parallel work on several items, without waiting for the work of other calls."""

import threading

import pytest

from functions.process import ProcessThreads

PATIENCE_SECONDS = 30


def test_results_are_in_the_order_of_the_items() -> None:
    """The number of threads does not matter."""
    assert ProcessThreads().pool(3, "test")(lambda one: one * 2, range(20)) == [
        number * 2 for number in range(20)
    ]
    assert ProcessThreads().pool(3, "test")(lambda one: one, []) == []


def test_all_are_tried_before_the_first_failure_is_raised() -> None:
    """A task that cannot be queued must not affect the others."""
    tried = []

    def work(item: int) -> None:
        tried.append(item)
        if item % 2 == 0:
            raise ValueError(item)

    with pytest.raises(ValueError, match=r"^0$"):
        ProcessThreads().pool(2, "test")(work, range(5))
    assert sorted(tried) == [0, 1, 2, 3, 4]


def test_the_calling_thread_does_items_that_no_thread_has_started() -> None:
    """Another call uses every thread of the pool."""
    caller_runs = ProcessThreads().pool(2, "test")
    all_taken, go_on = threading.Barrier(4), threading.Event()

    def hold(_: int) -> None:
        all_taken.wait(PATIENCE_SECONDS)
        go_on.wait(PATIENCE_SECONDS)

    other = threading.Thread(target=caller_runs, args=(hold, range(3)))
    other.start()
    try:
        all_taken.wait(PATIENCE_SECONDS)
        here = threading.get_ident()
        assert caller_runs(lambda _: threading.get_ident(), range(3)) == [here] * 3
    finally:
        go_on.set()
        other.join()


def test_without_caller_runs_the_pool_limits_all_calls_together() -> None:
    """Large requests need memory, so other calls wait."""
    in_pool = ProcessThreads().pool(1, "test", caller_runs=False)
    started, go_on = threading.Event(), threading.Event()
    worked_in = []

    def hold(item: int) -> None:
        started.set()
        go_on.wait(PATIENCE_SECONDS)
        worked_in.append((item, threading.current_thread().name))

    calls = [threading.Thread(target=in_pool, args=(hold, [item])) for item in range(2)]
    calls[0].start()
    started.wait(PATIENCE_SECONDS)
    calls[1].start()
    go_on.set()
    for call in calls:
        call.join(PATIENCE_SECONDS)
    assert worked_in == [(0, "test_0"), (1, "test_0")]
