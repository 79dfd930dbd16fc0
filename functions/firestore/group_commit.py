"""Group commit: makes the calls of many threads together, as databases commit transactions.

While a call is running, new callers gather in a group for the next call. A caller waits for no call
where none is running. With many callers, a single call to the service does the work of all, for a
fraction of their CPU (docs/benchmarks.md). A slow call delays its own group, and the next group by
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
"""How long a group waits for the call before it: what grouping adds to a caller's wait at most."""

_MIN_CALL_SECONDS: Final = 1.0


@dataclass(slots=True)
class _Group(Generic[Item, Result]):
    items: list[Item] = field(default_factory=list)
    results: Sequence[Result | Exception] = ()
    under_way: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True, eq=False)
class Turn:
    """Lets one call at a time pass; a call that outlasts the patience keeps no other one back."""

    patience: float = PATIENCE_SECONDS
    _passing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _replacing: threading.Lock = field(default_factory=threading.Lock, init=False)

    def take(self) -> threading.Lock:
        """Wait until the call before has ended or outlasts the patience; the lock to release."""
        while True:
            passing = self._passing
            if passing.acquire(timeout=self.patience):
                return passing
            with self._replacing:
                if self._passing is passing:
                    self._passing = threading.Lock()  # the slow call keeps the old lock


@dataclass(slots=True, eq=False)
class GroupCommit(Generic[Item, Result]):
    """Passes the items of all threads to `call`, one group at a time."""

    call: Callable[[Sequence[Item], float], Sequence[Result | Exception]]
    """Gets a group and a limit in seconds; returns a result or an error for each item, or raises
    the error of all items."""
    at_most: int
    """Items in a group."""
    seconds: float
    """Limit for a result, including the wait for the call before."""
    turn: Turn = field(default_factory=Turn)
    """Groups of several kinds that share a turn are called one after the other. More callers gather
    for each call."""
    monotonic: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _forming: _Group[Item, Result] = field(default_factory=_Group, init=False)

    def __call__(self, item: Item) -> Result:
        """The result for `item`.

        Raises:
            Exception: the error of the item, or of its group.
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
            with group.under_way:  # an event would cost each caller a lock of its own
                pass
        result = group.results[place]
        if isinstance(result, Exception):
            raise result
        return result

    def _lead(self, group: _Group[Item, Result]) -> None:
        """Make the call of the group, and set its results or its error."""
        joined = self.monotonic()
        turn = self.turn.take()
        try:
            with self._lock:
                if self._forming is group:
                    self._forming = _Group()
            left = self.seconds - (self.monotonic() - joined)
            group.results = self.call(group.items, max(left, _MIN_CALL_SECONDS))
        except Exception as error:  # noqa: BLE001 - raised in every thread of the group
            group.results = [error] * len(group.items)
        finally:
            turn.release()
            group.under_way.release()
