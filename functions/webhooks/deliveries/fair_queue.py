"""Fair queueing of deliveries: a busy tenant delays only its own deliveries (design 2).

Cloud Tasks starts tasks in the order of their due times. `FairQueue` computes when a two-level fair
queue (tenants, their events) would dispatch a delivery. It holds no deliveries. The queue serves a
fixed number of deliveries per second and divides them evenly among the tenants with a backlog, and
each tenant's part evenly among its events. A tenant that needs less than an even part never waits.
An event that needs less than an even part of its tenant's share waits only for the first deliveries
of the tenant's other events.

For example, ten deliveries that arrive at the same time, at four per second (a burst is one
delivery):

delivery  event    due after  why
1         a1 of A     0.00 s  no backlog
2 to 5    a1 of A     0.25 s, 0.50 s, 0.75 s, 1.00 s: only tenant A has a backlog
6         a2 of A     0.25 s  the first delivery of another event passes the backlog of a1
7         b1 of B     0.00 s  the first delivery of another tenant passes the backlog of A
8         b1 of B     0.50 s  tenants A and B share the rate
9         a1 of A     5.50 s  a1 has half of A's half, and five deliveries are before it
10        b1 of B     1.00 s  B waits only for its own deliveries

The deliveries of one event are always due in the order in which they arrive, even when a later
delivery could be served earlier because other tenants have no backlog.
"""

import heapq
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from functions import cache, ports
from functions.firestore.model import Documents, as_text

BURST_SECONDS: Final = 0.25
"""Seconds of the rate in one burst of a tenant. At 80 per second: one photo at 20 URLs."""

BURSTS_AT_ONCE: Final = 2
"""Bursts that all tenants together may use at once, so that many tenants cannot fill a queue.
Used bursts refill at that rate."""

SLOW_AT_ONCE: Final = 300
"""Concurrent attempts in one instance of the slow queue's function, five seconds each."""

_SLOW_SECONDS: Final = 5.0
"""Maximum duration of such an attempt: the sender's timeout."""

_REMEMBERED: Final = 1000
"""Number of remembered events above which events without due deliveries are removed."""


def slow_attempts_a_second(delivery_instances: int, threads: int) -> float:
    """Return the attempts at slow receivers that one worker process may schedule per second.

    All worker processes together schedule as many attempts as the function of the slow queue can
    run. First attempts have `delivery_instances` processes. Each of the three retries and the slow
    queue has half as many (main.py). Each process has `threads` threads.
    """
    halves = max(1, delivery_instances // 2)
    processes = max(1, delivery_instances) + 4 * halves
    return halves * min(SLOW_AT_ONCE, threads) / _SLOW_SECONDS / processes


_TENANT_KEPT_SECONDS: Final = 3600.0
"""How long a process remembers the tenant of an event, or that an event does not exist."""


class Tenants:
    """Cache of the tenant of each event, which never changes. Shared by all threads."""

    def __init__(self, documents: Documents, clock: ports.Clock) -> None:
        self._documents = documents
        self._kept: cache.TtlCache[str, str] = cache.TtlCache(clock, seconds=_TENANT_KEPT_SECONDS)

    def of(self, event_id: str) -> str:
        """Return the tenant of the event, or "" if the event does not exist."""
        kept = self._kept.get(event_id)
        if kept is None:
            event = self._documents.get(f"events/{event_id}")
            kept = as_text(event.fields.get("tenantId")) or "" if event else ""
            self._kept.put(event_id, value=kept)
        return kept


class _VirtualTimeQueue:
    """Fair queue by virtual time: each round serves one delivery of every waiting key.

    `rounds` is the number of rounds served so far. See https://doi.org/10.1145/75247.75248.
    """

    def __init__(self) -> None:
        self.rounds = 0.0
        # The round after the last delivery of each waiting key.
        self.waiting: dict[str, float] = {}
        # A heap with one entry for each waiting key. An entry may be older than the key's end.
        self._ends: list[tuple[float, str]] = []

    def add(self, key: str) -> float:
        """Add a delivery of `key` and return the number of rounds until it is served."""
        begins = self.waiting.get(key)
        if begins is None:
            begins = self.rounds
            heapq.heappush(self._ends, (begins + 1, key))
        self.waiting[key] = begins + 1
        return begins - self.rounds

    def undo(self, key: str) -> None:
        """Remove the last delivery of `key`."""
        if key in self.waiting:
            self.waiting[key] = max(self.waiting[key] - 1, self.rounds)

    def advance(self, deliveries: float) -> list[str]:
        """Serve that many deliveries and return the keys that are now empty."""
        ended = []
        while self._ends:
            entry, key = self._ends[0]
            end = self.waiting[key]
            if end > entry:  # later deliveries of the key came
                heapq.heapreplace(self._ends, (end, key))
                continue
            needed = max(end - self.rounds, 0.0) * len(self.waiting)
            if needed > deliveries:
                self.rounds += deliveries / len(self.waiting)
                break
            deliveries -= needed
            self.rounds = max(end, self.rounds)
            del self.waiting[key]
            heapq.heappop(self._ends)
            ended.append(key)
        return ended


@dataclass(slots=True)
class _Tenant:
    """A tenant with a backlog in the simulated fair queue.

    Attributes:
        seen: Number of the tenant's served deliveries when its events were last served.
        firsts: Number of first deliveries of events that were due before their turn and whose turn
            has not come yet.
        ahead: Used part of a burst, in deliveries. All deliveries are due earlier by that part.
        events: Fair queue of the tenant's events.
    """

    seen: float
    firsts: float = 0.0
    ahead: float = 0.0
    events: _VirtualTimeQueue = field(default_factory=_VirtualTimeQueue)

    def add(self, event_id: str, served: float) -> float:
        """Add a delivery of an event and return how many of the tenant's deliveries precede it."""
        self.events.advance(served - self.seen)
        self.firsts = max(self.firsts - (served - self.seen), 0.0)
        self.seen = served
        rounds = self.events.add(event_id)
        if rounds > 0:
            return (rounds + 1) * len(self.events.waiting) - 1
        self.firsts += 1
        return self.firsts - 1


class FairQueue:
    """Computes the delay of each delivery. Shared by all threads of a process."""

    def __init__(self, a_second: float, clock: ports.Clock, tenants: Tenants) -> None:
        """Schedule `a_second` deliveries per second while there is a backlog."""
        self._a_second = a_second
        self._burst = max(1, int(a_second * BURST_SECONDS))
        self._burst_left = float(BURSTS_AT_ONCE * self._burst)
        self._clock = clock
        self._tenants_of_events = tenants
        self._served_until = clock.monotonic()
        self._queue = _VirtualTimeQueue()
        self._tenants: dict[str, _Tenant] = {}
        # When the last delivery of each event is due, on the clock.
        self._last_due: dict[str, float] = {}
        self._remembered = _REMEMBERED
        self._lock = threading.Lock()

    def delay_for(self, event_id: str, at_least: timedelta = timedelta(0)) -> timedelta:
        """Count one more delivery of the event and return its delay, at least `at_least`."""
        tenant_id = self._tenants_of_events.of(event_id)
        with self._lock:
            self._serve()
            now = self._served_until
            last = self._last_due.get(event_id, now) - now
            tenant = self._tenants.get(tenant_id)
            if not tenant:
                tenant = self._tenants[tenant_id] = _Tenant(seen=self._queue.rounds)
            before = tenant.add(event_id, self._queue.rounds) - tenant.ahead
            self._queue.add(tenant_id)
            # Whether the event's earlier deliveries are all due.
            is_next = last <= 0 < before < 2 * len(tenant.events.waiting)
            if is_next and before <= self._burst_left and tenant.ahead + before < self._burst:
                tenant.ahead += before
                self._burst_left -= before
                before = 0
            behind = last + self._turn if last > 0 else 0.0
            seconds = max(before * self._turn, behind, at_least.total_seconds())
            self._last_due[event_id] = now + seconds
            return timedelta(seconds=seconds)

    def undo(self, event_id: str) -> None:
        """Undo the last `delay_for` of the event, because its delivery already existed."""
        tenant_id = self._tenants_of_events.of(event_id)
        with self._lock:
            if event_id in self._last_due:
                self._last_due[event_id] -= self._turn
            if tenant := self._tenants.get(tenant_id):
                tenant.events.undo(event_id)
                self._queue.undo(tenant_id)

    @property
    def _turn(self) -> float:
        """Seconds from one delivery of a tenant to the tenant's next delivery."""
        return len(self._queue.waiting) / self._a_second

    def _serve(self) -> None:
        """Serve the deliveries of the time since the last call."""
        now = self._clock.monotonic()
        seconds, self._served_until = now - self._served_until, now
        self._burst_left += seconds * self._a_second
        self._burst_left = min(self._burst_left, BURSTS_AT_ONCE * self._burst)
        for tenant_id in self._queue.advance(seconds * self._a_second):
            del self._tenants[tenant_id]
        if len(self._last_due) > self._remembered:
            self._last_due = {name: due for name, due in self._last_due.items() if due > now}
            self._remembered = max(_REMEMBERED, 2 * len(self._last_due))
