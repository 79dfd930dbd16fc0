"""Cloud Tasks: task names, rate limits and retries.

https://cloud.google.com/tasks/docs/configuring-queues
"""

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

TOMBSTONE: Final = timedelta(hours=24)
"""Time for which a task's name cannot be reused, even if the task has run."""

BURST_SECONDS: Final = 0.2
"""Size of a queue's burst: Cloud Tasks permits 100 dispatches at once at a rate of 500 a second."""


@dataclass(eq=False)
class TaskNames:
    """The names of a project's tasks. A name is unique in its queue."""

    _taken: dict[Hashable, datetime] = field(default_factory=dict)
    _taking: threading.Lock = field(default_factory=threading.Lock)

    def claim(self, queue: str, name: str, now: datetime) -> bool:
        """Reserve a name for a task. Return False if a task used it too recently."""
        with self._taking:
            taken = self._taken.get((queue, name))
            if taken is not None and now - taken < TOMBSTONE:
                return False
            self._taken[queue, name] = now
            return True


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A queue's retries of calls without a 2xx response. Times are seconds.

    A task fails after `attempts` calls, but not earlier than `seconds` after the first call.
    """

    attempts: int
    seconds: float
    min_backoff: float
    max_backoff: float
    doublings: int

    def backoff(self, calls: int) -> float:
        """Return the seconds between a call and the next one, after so many `calls`."""
        doubled = min(calls - 1, self.doublings)
        beyond = calls - 1 - doubled
        longest_doubled = self.min_backoff * float(2**doubled)
        return min(longest_doubled * (1 + beyond), self.max_backoff)

    def is_exhausted(self, calls: int, seconds: float) -> bool:
        """Return whether a task fails after so many calls, `seconds` after the first call."""
        return calls >= self.attempts and seconds >= self.seconds


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue's configuration: its concurrency limit, rate limit and retry policy."""

    max_concurrent: int
    per_second: float
    retry_policy: RetryPolicy


@dataclass(slots=True)
class Rate:
    """A queue's rate limit with its burst. Times are seconds of any clock.

    `next_start` is the earliest time of the next call.
    """

    per_second: float
    next_start: float = 0.0

    def reserve(self, now: float) -> float:
        """Count a call and return the time when it may start, `now` or later."""
        turn = max(self.next_start, now - BURST_SECONDS)
        self.next_start = turn + 1 / self.per_second
        return max(turn, now)
