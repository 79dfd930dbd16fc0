"""Caches of a process: singletons created on first use, and values kept for some seconds."""

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from functions.ports import Clock

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Return a thread-safe function that runs `make` once and returns its result.

    Concurrent first callers wait for the thread that runs `make`. With `functools.cache` each of
    them would run it and have connections and limits of its own. If `make` raises, that thread gets
    the error, and the next caller runs `make` again.
    """
    cached, lock = functools.cache(make), threading.RLock()

    @functools.wraps(make)
    def made() -> Made:
        with lock:
            return cached()

    return made


class lazy_property(functools.cached_property[Made]):  # noqa: N801 - a decorator
    """Thread-safe cached property. Concurrent first readers wait for one computation.

    The object has a `lock`, an RLock, for all of its properties.
    """

    def __get__(self, of: Any, owner: type | None = None) -> Made:  # type: ignore[override]
        """Return the value, computed on first use."""
        with of.lock:
            made: Made = super().__get__(of, owner)
            return made


_AT_MOST: Final = 10_000
"""Maximum number of values in a `TtlCache`."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(eq=False, slots=True)
class TtlCache(Generic[Key, Value]):
    """Cache that keeps values for some seconds. Shared by all threads.

    A full cache evicts the oldest value. Its caller must read the source again.
    """

    clock: Clock
    seconds: float
    _kept: OrderedDict[Key, tuple[float, Value]] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(self, key: Key) -> Value | None:
        """Return the recent value under `key`, or None."""
        now = self.clock.monotonic()
        with self._lock:
            kept = self._kept.get(key)
        return kept[1] if kept and now - kept[0] < self.seconds else None

    def put(self, key: Key, *, value: Value, since: float | None = None) -> None:
        """Store `value`, which was read at the monotonic time `since`, by default now."""
        moment = self.clock.monotonic() if since is None else since
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (moment, value)
            if len(self._kept) > _AT_MOST:
                self._kept.popitem(last=False)
