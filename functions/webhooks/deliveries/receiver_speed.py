"""Response speed of receivers, as observed by this instance (design 2).

An attempt at a fast receiver occupies a thread for milliseconds, an attempt at a slow receiver for
up to five seconds. An attempt that could delay attempts at fast receivers goes to the slow queue:

receiver    an attempt goes to the slow queue
any         while another attempt at the receiver has been running for longer than SLOW_AFTER
unproven    while its event has UNPROVEN_OF_AN_EVENT attempts at unproven receivers running, or its
            tenant an even part of UNPROVEN_AT_ONCE, or all tenants UNPROVEN_AT_ONCE
slow        always, except one probe in TRIED_AGAIN_AFTER_SECONDS

An unproven receiver is not known to be fast.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from functions import cache, ports
from functions.webhooks.deliveries.delivery import SLOW_AFTER
from functions.webhooks.deliveries.fair_queue import Tenants

SLOW_ATTEMPTS: Final = 2
"""Consecutive slow attempts after which a fast receiver counts as slow. Ignores single hiccups."""

TRIED_AGAIN_AFTER_SECONDS: Final = 120.0
"""Seconds between two probes of a slow receiver among the attempts at fast receivers."""

REMEMBERED_SECONDS: Final = 3600.0
"""How long a receiver is remembered after its last attempt."""

UNPROVEN_AT_ONCE: Final = 60
"""Maximum concurrent attempts at receivers that are not known to be fast, in one instance. This is
half of the attempts that an instance runs."""

UNPROVEN_OF_AN_EVENT: Final = 3
"""Maximum of such attempts of one event, as many as one upload sends messages to one URL. With few
tenants, this leaves room for other events of the tenant."""

_Receiver: TypeAlias = tuple[str, str]
"""Event ID and URL."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Number of consecutive slow attempts at a receiver, and start of the last attempt."""

    slow_attempts: int
    tried_at: float

    @property
    def is_slow(self) -> bool:
        return self.slow_attempts >= SLOW_ATTEMPTS


@dataclass(frozen=True, slots=True, eq=False)
class _Inflight:
    """A running attempt, and whether its receiver was known to be fast when it started."""

    receiver: _Receiver
    since: float
    known_fast: bool


class FastReceivers:
    """Tracks the response speed of each URL of an event. Shared by all threads."""

    def __init__(self, clock: ports.Clock, tenants: Tenants) -> None:
        self._clock = clock
        self._tenants = tenants
        self._known: cache.TtlCache[_Receiver, _Known] = cache.TtlCache(
            clock, seconds=REMEMBERED_SECONDS
        )
        self._in_flight: set[_Inflight] = set()
        self._lock = threading.Lock()

    def belongs_on_slow_queue(self, event_id: str, url: str) -> bool:
        """Return whether an attempt belongs on the slow queue."""
        receiver, now = (event_id, url), self._clock.monotonic()
        known = self._known.get(receiver)
        late = now - SLOW_AFTER.total_seconds()
        with self._lock:
            in_flight = list(self._in_flight)
        unproven = [each for each in in_flight if not each.known_fast or each.since <= late]
        here = [attempt for attempt in unproven if attempt.receiver == receiver]
        if any(attempt.since <= late for attempt in here):
            return True
        if known and not known.is_slow:
            return False
        if known and (here or now - known.tried_at < TRIED_AGAIN_AFTER_SECONDS):
            return True
        return self._has_too_many_in_flight(event_id, [attempt.receiver for attempt in unproven])

    def _has_too_many_in_flight(self, event_id: str, unproven: Sequence[_Receiver]) -> bool:
        events = [event_id, *(other for other, _ in unproven)]
        tenants = Counter(map(self._tenants.of, events))
        even_part = UNPROVEN_AT_ONCE // (len(tenants) + 1)  # leaves a part for the next tenant
        return (
            events.count(event_id) > UNPROVEN_OF_AN_EVENT
            or tenants[self._tenants.of(event_id)] > max(1, even_part)
            or len(events) > UNPROVEN_AT_ONCE
        )

    @contextmanager
    def track(self, event_id: str, url: str) -> Iterator[None]:
        """Count an attempt while it runs, and remember whether the receiver was fast.

        If the attempt raises an error, it is not remembered.
        """
        receiver, since = (event_id, url), self._clock.monotonic()
        before = self._known.get(receiver)
        attempt = _Inflight(receiver, since, known_fast=before is not None and not before.is_slow)
        with self._lock:
            self._in_flight.add(attempt)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight.discard(attempt)
        slow_attempts = 0
        if self._clock.monotonic() - since >= SLOW_AFTER.total_seconds():
            known = self._known.get(receiver)
            slow_attempts = known.slow_attempts + 1 if known else SLOW_ATTEMPTS
        self._known.put(receiver, value=_Known(slow_attempts, since))
