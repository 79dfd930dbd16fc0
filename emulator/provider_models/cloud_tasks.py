"""Cloud Tasks: how long a name is taken, when a queue calls, and when it calls again.

https://cloud.google.com/tasks/docs/configuring-queues
"""

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

TOMBSTONE: Final = timedelta(hours=24)
"""How long the name of a task stays taken, also after the task has run."""

BURST_SECONDS: Final = 0.2
"""What a queue may dispatch at once, of its rate: 100 of 500 a second, as Cloud Tasks sets it."""


@dataclass(eq=False)
class Names:
    """The names of a project's tasks; a name holds in one queue."""

    _taken: dict[Hashable, datetime] = field(default_factory=dict)
    _taking: threading.Lock = field(default_factory=threading.Lock)

    def take(self, queue: str, name: str, now: datetime) -> bool:
        """Take a name for a task; False where a task had it too recently."""
        with self._taking:
            taken = self._taken.get((queue, name))
            if taken is not None and now - taken < TOMBSTONE:
                return False
            self._taken[queue, name] = now
            return True


@dataclass(frozen=True, slots=True)
class Retries:
    """How a queue repeats a call that is not answered 2xx; times are seconds.

    A task is given up when it has had `attempts` calls and `seconds` have passed since its first.
    """

    attempts: int
    seconds: float
    min_backoff: float
    max_backoff: float
    doublings: int

    def backoff(self, calls: int) -> float:
        """Seconds between a call and the next one, after so many `calls`."""
        doubled = min(calls - 1, self.doublings)
        beyond = calls - 1 - doubled
        longest_doubled = self.min_backoff * float(2**doubled)
        return min(longest_doubled * (1 + beyond), self.max_backoff)

    def give_up(self, calls: int, seconds: float) -> bool:
        """Whether a task is given up after so many calls, `seconds` after the first of them."""
        return calls >= self.attempts and seconds >= self.seconds


@dataclass(frozen=True, slots=True)
class Queue:
    """What a deploy sets of a queue: calls at a time, calls a second, and the retries."""

    at_a_time: int
    a_second: float
    retries: Retries


@dataclass(slots=True)
class Rate:
    """Calls a second of one queue, with its burst; times are seconds of any clock.

    `opens` is when the next call may begin.
    """

    a_second: float
    opens: float = 0.0

    def begin(self, now: float) -> float:
        """Count a call; when it may begin, `now` or later."""
        turn = max(self.opens, now - BURST_SECONDS)
        self.opens = turn + 1 / self.a_second
        return max(turn, now)
