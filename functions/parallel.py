"""Doing the same work for several items at the same time."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class InParallel(Protocol):
    """Calls a function for each item, several items at a time."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """The results in the order of the items.

        Raises:
            Exception: the error of the first failed item, raised after all items were tried.
        """


class Threads:
    """Works in threads, which all calls share and which are started on demand.

    With `helped` the calling thread works on every item that no thread has begun. So no call waits
    for the items of other calls, and a call with one item needs no other thread. Otherwise no more
    than `at_once` items of all calls together are worked on. A thread runs in the context of its
    call, so that log lines name the request.
    """

    def __init__(self, at_once: int, name: str, *, helped: bool = True) -> None:
        """Start at most `at_once` threads, named `name` in stack dumps."""
        self._own = int(helped)
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """See `InParallel`."""
        all_items = list(items)
        futures = [
            self._pool.submit(copy_context().run, work, item) for item in all_items[self._own :]
        ]
        done = [_done(work, item) for item in all_items[: self._own]]
        for item, future in zip(all_items[self._own :], futures, strict=True):
            done.append(_done(work, item) if self._own and future.cancel() else future)
        wait(done)
        return [future.result() for future in done]


def _done(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    future: Future[Result] = Future()
    try:
        future.set_result(work(item))
    except Exception as error:  # noqa: BLE001 - raised after all items were tried
        future.set_exception(error)
    return future
