"""The same work for several items at the same time; how is handed in."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class SideBySide(Protocol):
    """Does something for each of some items."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """The results in the order of the items.

        Raises:
            Exception: what the first of the items that failed has raised, after all were tried.
        """


class Threads:
    """Side by side in threads, which all calls share; they are made when they are needed.

    A thread knows the context of its call, so that log lines name the request.
    """

    def __init__(self, at_once: int, name: str) -> None:
        """`at_once` is how many threads there may be; `name` is what a stack dump calls them."""
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """See `SideBySide`."""
        begun = [self._pool.submit(copy_context().run, work, item) for item in items]
        wait(begun)
        return [one.result() for one in begun]


class HelpedThreads(Threads):
    """Likewise, and whoever calls does what no thread has begun.

    So nobody waits for what others have to do: a call with one item needs no thread at all, however
    many items the other calls have.
    """

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """See `SideBySide`."""
        all_items = list(items)
        begun = [self._pool.submit(copy_context().run, work, item) for item in all_items[1:]]
        done = [_done(work, item) for item in all_items[:1]]
        for item, one in zip(all_items[1:], begun, strict=True):
            done.append(_done(work, item) if one.cancel() else one)
        wait(done)
        return [one.result() for one in done]


def _done(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    ended: Future[Result] = Future()
    try:
        ended.set_result(work(item))
    except Exception as error:  # noqa: BLE001 - raised once all were tried
        ended.set_exception(error)
    return ended
