"""When deliveries are due, so that a busy event waits for itself and for no other event (design 2).

A queue starts its tasks in the order in which they are due. `Pace` is a fair queue on paper: it
serves a number of deliveries a second, evenly from all events that have deliveries waiting, and a
delivery is due when the queue would serve it. An event that asks for less than an even part never
waits.
"""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

BURST_SECONDS: Final = 0.25
"""Seconds of the pace that an event may have due at once: of 80 a second, one photo at 20 URLs."""

BURSTS_AT_ONCE: Final = 2
"""Bursts that all events together may have due at once, so that no crowd of new events fills a
queue. Used-up bursts come back at the pace."""

_ALL_DUE: Final = 1.5
"""Rounds; an event whose earlier deliveries are all due has one left at most, but for rounding."""

SLOW_ATTEMPTS_A_SECOND: Final = 10
"""Attempts at slow receivers that one worker process makes due.

Each may hold a place for five seconds, so one process fills 50 places, and five processes (two that
make first attempts, and one for each retry) fill the 240 places of the slow queue."""


@dataclass(slots=True)
class _Waiting:
    """An event that has deliveries waiting on paper.

    Attributes:
        end: The round after its last delivery.
        ahead: Rounds that its deliveries are due before their own, out of a burst.
    """

    end: float
    ahead: int = 0


class Pace:
    """Gives each delivery its wait; one instance serves all threads of a process.

    Fair queueing by virtual time: `_served_rounds` counts the rounds in which each waiting event
    was served once. https://doi.org/10.1145/75247.75248
    """

    def __init__(self, a_second: float, monotonic: Callable[[], float]) -> None:
        """Make the pace of a process.

        Args:
            a_second: Deliveries that become due in a second while events are waiting.
            monotonic: Seconds that only grow.
        """
        self._a_second = a_second
        self._burst = max(1, int(a_second * BURST_SECONDS))
        self._burst_left = float(BURSTS_AT_ONCE * self._burst)
        self._monotonic = monotonic
        self._served_until = monotonic()
        self._served_rounds = 0.0
        self._waiting: dict[str, _Waiting] = {}
        # A heap with one entry for each waiting event, at or before the event's end.
        self._ends: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def wait(self, event_id: str) -> timedelta:
        """How long the next delivery of the event waits for the event's earlier ones."""
        with self._lock:
            self._serve()
            event = self._waiting.get(event_id)
            if not event:
                event = self._waiting[event_id] = _Waiting(self._served_rounds)
                heapq.heappush(self._ends, (event.end + 1, event_id))
            rounds = event.end - self._served_rounds - event.ahead
            event.end += 1
            if 0 < rounds < _ALL_DUE and self._burst_left >= 1 and event.ahead < self._burst - 1:
                event.ahead += 1
                self._burst_left -= 1
                rounds -= 1
            return timedelta(seconds=max(0.0, rounds) * len(self._waiting) / self._a_second)

    def _serve(self) -> None:
        """Serve the waiting events for the time since the last call."""
        now = self._monotonic()
        seconds, self._served_until = now - self._served_until, now
        self._burst_left += seconds * self._a_second
        self._burst_left = min(self._burst_left, BURSTS_AT_ONCE * self._burst)
        while self._ends:
            entry, event_id = self._ends[0]
            end = self._waiting[event_id].end
            if end > entry:  # later deliveries of the event came
                heapq.heapreplace(self._ends, (end, event_id))
                continue
            needed = (end - self._served_rounds) * len(self._waiting) / self._a_second
            if needed > seconds:
                self._served_rounds += seconds * self._a_second / len(self._waiting)
                return
            seconds -= needed
            self._served_rounds = end
            del self._waiting[event_id]
            heapq.heappop(self._ends)
