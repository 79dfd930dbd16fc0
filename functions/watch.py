"""Ends what is late: one thread for all things of a kind that have deadlines."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

TICK_SECONDS: Final = 0.05
"""How late an end may come. A timer for each thing would take 0.1 ms of CPU."""


class Timed(Protocol):
    """What has a deadline."""

    @property
    def deadline(self) -> float:
        """Seconds of the watch's clock."""

    def end(self) -> None:
        """Called at each tick from then on, until it is not watched; may raise an OSError."""


Thing = TypeVar("Thing", bound=Timed)


class Watch(Generic[Thing]):
    """Ends each of the things `watched` at its deadline; serves all threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self.monotonic = monotonic
        self.watched: set[Thing] = set()
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def close(self) -> None:
        """End everything at once, and the thread."""
        self._closed.set()

    def _run(self) -> None:
        is_closed = False
        while not is_closed:
            is_closed = self._closed.wait(TICK_SECONDS)
            for thing in self.watched.copy():
                if is_closed or thing.deadline <= self.monotonic():
                    with suppress(OSError):
                        thing.end()
