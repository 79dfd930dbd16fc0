"""When deliveries are due, so that a busy event waits for itself and for no other event (design 2).

A queue starts its tasks in the order in which they are due. `Pace` is a fair queue on paper: it
serves so many deliveries a second, shares them evenly among the events that have any waiting, and
a delivery is due when its turn would come. An event that asks for less than its share never waits.
"""

import heapq
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final

BURST_SECONDS: Final = 0.25
"""An event may have so much of the pace due at once: of 80 a second, one photo at 20 URLs."""

SLOW_ATTEMPTS_A_SECOND: Final = 10
"""Attempts at slow receivers that a worker makes due: five workers fill the queue's places."""


class Pace:
    """Gives each delivery its wait; one instance serves all threads of a process.

    Fair queueing by virtual time: `_turn` counts the rounds in which each event that waits was
    served once, `_last` is the turn after each waiting event's last delivery.
    https://doi.org/10.1145/75247.75248
    """

    def __init__(self, a_second: float, monotonic: Callable[[], float]) -> None:
        """Make the pace of a process.

        Args:
            a_second: Deliveries that become due in a second while events are waiting.
            monotonic: Seconds that only grow.
        """
        self._a_second = a_second
        self._burst = max(1, int(a_second * BURST_SECONDS))
        self._monotonic = monotonic
        self._served_until = monotonic()
        self._turn = 0.0
        self._last: dict[str, float] = {}
        # A heap with one entry for each waiting event, at or before the event's end.
        self._ends: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def wait(self, event_id: str) -> timedelta:
        """How long the next delivery of the event waits for the event's earlier ones."""
        with self._lock:
            self._serve()
            turn = self._last.get(event_id, self._turn)
            if event_id not in self._last:
                heapq.heappush(self._ends, (turn + 1, event_id))
            self._last[event_id] = turn + 1
            ahead = max(0.0, turn - self._turn - self._burst + 1)
            return timedelta(seconds=ahead * len(self._last) / self._a_second)

    def _serve(self) -> None:
        """Give the waiting events the turns of the time since the last call."""
        now = self._monotonic()
        seconds, self._served_until = now - self._served_until, now
        while self._ends:
            end, event_id = self._ends[0]
            last = self._last[event_id]
            if last > end:  # later deliveries of the event came
                heapq.heapreplace(self._ends, (last, event_id))
                continue
            needed = (end - self._turn) * len(self._last) / self._a_second
            if needed > seconds:
                self._turn += seconds * self._a_second / len(self._last)
                return
            seconds -= needed
            self._turn = end
            del self._last[event_id]
            heapq.heappop(self._ends)
