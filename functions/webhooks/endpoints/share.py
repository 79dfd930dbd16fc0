"""How much of one host an event may have: so many POSTs at a time, and so many a second.

In one process. Whoever fills an event with URLs of somebody else's host, or moderates thousands of
photos at once, has each instance knock there at this pace and no faster; the rest wait, and fail
like a time-out where that takes too long.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

WAIT_SECONDS: Final = 5.0
"""How long a POST waits for its turn at most; its own time begins after that."""

_LOOK_FOR_UNUSED: Final = 1000

_Key: TypeAlias = tuple[str, str]


class NoTurnError(Exception):
    """Others of the same event to the same host were first for too long; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of an event at one host."""

    at_a_time: int
    a_second: int


class _Share:
    __slots__ = ("at_work", "next_turn", "waiting")

    def __init__(self) -> None:
        self.at_work = 0
        self.waiting: list[threading.Event] = []
        self.next_turn = -math.inf  # when the next POST would come if they came evenly


class Shares:
    """Gives turns; one instance serves all threads."""

    def __init__(
        self, limits: Limits, monotonic: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        """`monotonic` gives seconds that only grow, `sleep` waits for some of them."""
        self._limits = limits
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._shares: dict[_Key, _Share] = {}

    @contextmanager
    def turn(self, event_id: str, host: str) -> Iterator[None]:
        """One POST of the event to `host`.

        Raises:
            NoTurnError: its turn did not come in `WAIT_SECONDS`.
        """
        share = self._enter((event_id, host))
        try:
            pause = self._pause(share)
            if pause > 0:
                self._sleep(pause)
            yield
        finally:
            self._leave(share)

    def _enter(self, key: _Key) -> _Share:
        with self._lock:
            if len(self._shares) > _LOOK_FOR_UNUSED and key not in self._shares:
                self._forget_unused()
            share = self._shares.setdefault(key, _Share())
            if share.at_work < self._limits.at_a_time:
                share.at_work += 1
                return share
            mine = threading.Event()
            share.waiting.append(mine)
        if not mine.wait(WAIT_SECONDS):
            with self._lock:
                if mine in share.waiting:
                    share.waiting.remove(mine)
                    raise NoTurnError
        return share  # whoever left has handed its place over

    def _leave(self, share: _Share) -> None:
        with self._lock:
            if share.waiting:
                share.waiting.pop(0).set()
            else:
                share.at_work -= 1

    def _pause(self, share: _Share) -> float:
        """Seconds until the turn; up to a second's worth of turns may come at once."""
        with self._lock:
            now, step = self._monotonic(), 1 / self._limits.a_second
            even = max(share.next_turn, now - 1 + step)
            pause = even - now
            if pause > WAIT_SECONDS:
                raise NoTurnError
            share.next_turn = even + step
        return pause

    def _forget_unused(self) -> None:
        now = self._monotonic()
        for key, share in list(self._shares.items()):
            if not share.at_work and share.next_turn <= now - 1:
                del self._shares[key]
