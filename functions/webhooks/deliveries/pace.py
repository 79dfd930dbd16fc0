"""When deliveries are due, so that a busy event waits for itself and for no other event (design 2).

A queue starts its tasks in the order in which they are due. `Pace` is a fair queue on paper: it
serves a number of deliveries a second, evenly from all events that have deliveries waiting, and a
delivery is due when the queue would serve it. An event that asks for less than an even part never
waits.
"""

import heapq
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final

BURST_SECONDS: Final = 0.25
"""Seconds of the pace that an event may have due at once: of 80 a second, one photo at 20 URLs."""

SLOW_ATTEMPTS_A_SECOND: Final = 10
"""Attempts at slow receivers that one worker process makes due.

Each may hold a place for five seconds, so one process fills 50 places, and five processes (two that
make first attempts, and one for each retry) fill the 240 places of the slow queue."""


class Pace:
    """Gives each delivery its wait; one instance serves all threads of a process.

    Fair queueing by virtual time: `_served_rounds` counts the rounds in which each waiting event
    was served once, `_last_round` is the round after each waiting event's last delivery.
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
        self._served_rounds = 0.0
        self._last_round: dict[str, float] = {}
        # A heap with one entry for each waiting event, at or before the event's end.
        self._ends: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def wait(self, event_id: str) -> timedelta:
        """How long the next delivery of the event waits for the event's earlier ones."""
        with self._lock:
            self._serve()
            place = self._last_round.get(event_id, self._served_rounds)
            if event_id not in self._last_round:
                heapq.heappush(self._ends, (place + 1, event_id))
            self._last_round[event_id] = place + 1
            ahead = max(0.0, place - self._served_rounds - self._burst + 1)
            return timedelta(seconds=ahead * len(self._last_round) / self._a_second)

    def _serve(self) -> None:
        """Serve the waiting events for the time since the last call."""
        now = self._monotonic()
        seconds, self._served_until = now - self._served_until, now
        while self._ends:
            end, event_id = self._ends[0]
            last = self._last_round[event_id]
            if last > end:  # later deliveries of the event came
                heapq.heapreplace(self._ends, (last, event_id))
                continue
            needed = (end - self._served_rounds) * len(self._last_round) / self._a_second
            if needed > seconds:
                self._served_rounds += seconds * self._a_second / len(self._last_round)
                return
            seconds -= needed
            self._served_rounds = end
            del self._last_round[event_id]
            heapq.heappop(self._ends)
