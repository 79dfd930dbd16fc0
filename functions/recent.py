"""A bounded cache of recent values, with the clock handed in."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(eq=False, slots=True, kw_only=True)
class Recent(Generic[Key, Value]):
    """Keeps values for some seconds; one instance serves all threads.

    A full cache drops the oldest value: the caller then has to read the source again.
    """

    seconds: float
    monotonic: Callable[[], float]
    at_most: int = 10_000
    _kept: OrderedDict[Key, tuple[float, Value]] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(self, key: Key) -> Value | None:
        """The recent value under `key`, or None."""
        now = self.monotonic()
        with self._lock:
            kept = self._kept.get(key)
        return kept[1] if kept and now - kept[0] < self.seconds else None

    def put(self, key: Key, *, value: Value, since: float | None = None) -> None:
        """Keep `value`, which was read at `since` on the clock; None: now."""
        moment = self.monotonic() if since is None else since
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (moment, value)
            if len(self._kept) > self.at_most:
                self._kept.popitem(last=False)
