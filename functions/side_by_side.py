"""The same work for several items at the same time; how is handed in."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
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
    """Side by side in threads, which all calls share; they are made when they are needed."""

    def __init__(self, at_once: int, name: str) -> None:
        """`at_once` is how many threads there may be; `name` is what a stack dump calls them."""
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """See `SideBySide`."""
        begun = [self._pool.submit(work, item) for item in items]
        wait(begun)
        return [one.result() for one in begun]
