"""Group commit: combine the calls of many threads, as databases combine transactions.

While a call is running, new callers form a group for the next call. If no call is running, a caller
does not wait. With many callers, one call to the service does the work of all for a fraction of the
CPU (docs/internals/benchmarks.md). A slow call delays its own group, and the next group by at most
`PATIENCE_SECONDS`.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE_SECONDS: Final = 0.02
"""Maximum seconds that a group waits for the previous call, and that grouping delays a caller."""

MIN_CALL_SECONDS: Final = 1.0
"""Minimum timeout of a call."""


@dataclass(slots=True)
class _Group(Generic[Item, Result]):
    items: list[Item] = field(default_factory=list)
    results: Sequence[Result | Exception] = ()
    under_way: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True, eq=False)
class Turn:
    """Lock for one call at a time, which a slow call holds only for the duration `patience`."""

    patience: float = PATIENCE_SECONDS
    _passing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _replacing: threading.Lock = field(default_factory=threading.Lock, init=False)

    def take(self) -> threading.Lock:
        """Wait for the previous call, at most for `patience`, and return the lock to release."""
        while True:
            passing = self._passing
            if passing.acquire(timeout=self.patience):
                return passing
            with self._replacing:
                if self._passing is passing:
                    self._passing = threading.Lock()  # the slow call keeps the old lock


@dataclass(slots=True, eq=False)
class GroupCommit(Generic[Item, Result]):
    """Function that passes the items of all threads to `call`, one group at a time."""

    call: Callable[[Sequence[Item], float], Sequence[Result | Exception]]
    """Processes a group within a timeout in seconds. Returns a result or an error for each item, or
    raises an error for all items."""
    at_most: int
    """Maximum number of items in a group."""
    seconds: float
    """Timeout for a result, including the wait for the previous call."""
    turn: Turn = field(default_factory=Turn)
    """Lock for calls. Group commits that share it call in sequence and have larger groups."""
    monotonic: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _forming: _Group[Item, Result] = field(default_factory=_Group, init=False)

    def __call__(self, item: Item) -> Result:
        """Process `item` in a group and return its result.

        Raises:
            Exception: The error of the item or of its group.
        """
        with self._lock:
            group = self._forming
            place = len(group.items)
            group.items.append(item)
            if place == 0:
                group.under_way.acquire()
            if place + 1 == self.at_most:
                self._forming = _Group()
        if place == 0:
            self._lead(group)
        else:
            with group.under_way:  # a `threading.Event` would need a lock for each caller
                pass
        result = group.results[place]
        if isinstance(result, Exception):
            raise result
        return result

    def _lead(self, group: _Group[Item, Result]) -> None:
        """Call the service for the group, and set the results or the error of the group."""
        joined = self.monotonic()
        turn = self.turn.take()
        try:
            with self._lock:
                if self._forming is group:
                    self._forming = _Group()
            left = self.seconds - (self.monotonic() - joined)
            group.results = self.call(group.items, max(left, MIN_CALL_SECONDS))
        except Exception as error:  # noqa: BLE001 - raised in every thread of the group
            group.results = [error] * len(group.items)
        finally:
            turn.release()
            group.under_way.release()
