"""Which receivers answer fast, as far as this instance knows (design 2).

A fast receiver keeps one of the instance's threads for some milliseconds, a slow one up to five
seconds. So an attempt goes to the slow queue where it could hold up attempts at fast receivers:

receiver      an attempt at it goes to the slow queue
any           while another attempt at it is under way for longer than SLOW_AFTER
not known     while its event has UNPROVEN_OF_AN_EVENT such attempts under way,
to be fast    or its tenant an even part of UNPROVEN_AT_ONCE, or all tenants UNPROVEN_AT_ONCE
slow          always, but for one attempt in TRIED_AGAIN_AFTER_SECONDS: is the receiver still slow?
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from functions.cache import Recent
from functions.ports import Clock
from functions.webhooks.deliveries.delivery import SLOW_AFTER
from functions.webhooks.deliveries.fair_pace import Tenants

SLOW_ATTEMPTS: Final = 2
"""Slow attempts in a row after which a fast receiver counts as slow: one hiccup is none."""

TRIED_AGAIN_AFTER_SECONDS: Final = 120.0
"""How long a slow receiver waits until one of its attempts is made among the fast ones."""

REMEMBERED_SECONDS: Final = 3600.0
"""How long a receiver is remembered after its last attempt."""

UNPROVEN_AT_ONCE: Final = 60
"""Most attempts under way at receivers that are not known to be fast, of the 120 of an instance."""

UNPROVEN_OF_AN_EVENT: Final = 3
"""Most such attempts of one event: as many as the messages of an upload to a URL, and so few that
twenty floods leave room for other events of the tenant."""

_REMEMBERED: Final = 10_000
"""Receivers that are remembered at most."""

_Receiver: TypeAlias = tuple[str, str]
"""An event's id, and a URL."""


@dataclass(frozen=True, slots=True)
class _Known:
    """How the receiver answered: slow attempts in a row, and when the last attempt began."""

    slow_attempts: int
    tried_at: float

    @property
    def is_slow(self) -> bool:
        return self.slow_attempts >= SLOW_ATTEMPTS


@dataclass(frozen=True, slots=True, eq=False)
class _UnderWay:
    """An attempt, and whether its receiver was known to be fast when the attempt began."""

    receiver: _Receiver
    since: float
    is_proven: bool


class FastReceivers:
    """Remembers how each URL of an event answered; one instance serves all threads."""

    def __init__(self, clock: Clock, tenants: Tenants) -> None:
        self._clock = clock
        self._tenants = tenants
        self._known: Recent[_Receiver, _Known] = Recent(
            clock, seconds=REMEMBERED_SECONDS, at_most=_REMEMBERED
        )
        self._under_way: set[_UnderWay] = set()
        self._lock = threading.Lock()

    def has_to_wait(self, event_id: str, url: str) -> bool:
        """Whether an attempt belongs on the slow queue."""
        receiver, now = (event_id, url), self._clock.monotonic()
        known = self._known.get(receiver)
        late = now - SLOW_AFTER.total_seconds()
        with self._lock:
            under_way = list(self._under_way)
        unproven = [each for each in under_way if not each.is_proven or each.since <= late]
        here = [attempt for attempt in unproven if attempt.receiver == receiver]
        if any(attempt.since <= late for attempt in here):
            return True
        if known and not known.is_slow:
            return False
        if known and (here or now - known.tried_at < TRIED_AGAIN_AFTER_SECONDS):
            return True
        return self._has_too_many_under_way(event_id, [attempt.receiver for attempt in unproven])

    def _has_too_many_under_way(self, event_id: str, unproven: Sequence[_Receiver]) -> bool:
        events = [event_id, *(other for other, _ in unproven)]
        tenants = Counter(map(self._tenants.of, events))
        even_part = UNPROVEN_AT_ONCE // (len(tenants) + 1)  # one is left for the next tenant
        return (
            events.count(event_id) > UNPROVEN_OF_AN_EVENT
            or tenants[self._tenants.of(event_id)] > max(1, even_part)
            or len(events) > UNPROVEN_AT_ONCE
        )

    @contextmanager
    def under_way(self, event_id: str, url: str) -> Iterator[None]:
        """Count an attempt while it is being made, and remember whether it was fast.

        An attempt that raises was not made, and is not remembered.
        """
        receiver, since = (event_id, url), self._clock.monotonic()
        before = self._known.get(receiver)
        attempt = _UnderWay(receiver, since, is_proven=before is not None and not before.is_slow)
        with self._lock:
            self._under_way.add(attempt)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.discard(attempt)
        slow_attempts = 0
        if self._clock.monotonic() - since >= SLOW_AFTER.total_seconds():
            known = self._known.get(receiver)
            slow_attempts = known.slow_attempts + 1 if known else SLOW_ATTEMPTS
        self._known.put(receiver, value=_Known(slow_attempts, since))
