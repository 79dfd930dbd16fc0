"""Spec 8 and design 3.7: the counter of a client's calls in an hour."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from functions.call.errors import CallError
from functions.firestore.model import FIRESTORE_TIMEOUT_SECONDS, Write, Written
from functions.ports import Clock
from functions.rate_limit import (
    FAIL_OPEN_TIMEOUT_SECONDS,
    MAX_CALLS,
    PERIOD,
    RateLimit,
    window_of,
)
from tests.in_memory.adapters import InMemorySecrets
from tests.in_memory.documents import InMemoryDocuments

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
REFUSED = "resource-exhausted: Too many requests from this IP address. Try again at 19:00 UTC."


def window(
    function: str = "f", client: str = "203.0.113.7", key: str = "k", now: datetime = NOW
) -> tuple[str, datetime]:
    """Return a window with these arguments."""
    return window_of(function, client, secret=key, now=now, period=PERIOD)


def test_each_client_function_and_hour_has_its_own_counter() -> None:
    """Design 3.8: the ID of a record is a keyed hash and a valid document ID."""
    assert window(now=NOW + timedelta(minutes=29, seconds=59)) == window()
    assert window()[1] == datetime(2026, 5, 1, 19, tzinfo=UTC)
    others = [
        window(),
        window(client="203.0.113.8"),
        window(function="g"),
        window(now=NOW + timedelta(minutes=30)),
        window(now=NOW - timedelta(minutes=31)),
        window(key="l"),
    ]
    assert len({key for key, _ in others}) == len(others)
    assert window()[0].isalnum()
    assert len(window()[0]) == 40


class Contended(InMemoryDocuments):
    """Firestore with too many concurrent writes of one record."""

    asked = 0
    seconds = 0.0

    def commit(self, *_: Write, **limits: float) -> Sequence[Written]:
        """Fail after a while, as Firestore does."""
        self.asked += 1
        self.seconds = limits["seconds"]
        time.sleep(0.02)  # so that more calls come than a client has
        raise TimeoutError


def limit(documents: InMemoryDocuments, now: Callable[[], datetime] = lambda: NOW) -> RateLimit:
    """Return the limit of a process, with the key `k`."""
    clock = Clock(now, lambda: 0.0, lambda _: None)
    return RateLimit(documents, clock, InMemorySecrets({"K": ("k",)}), "K")


def outcome(limiter: RateLimit, function: str) -> str:
    """Return the outcome of one call."""
    try:
        limiter.require(function, "203.0.113.7")
    except CallError as refused:
        return f"{refused.code}: {refused.message}"
    except TimeoutError:
        return "failed"
    return "passed"


def test_every_lookup_passes_if_the_limiter_fails() -> None:
    """Spec 8: all requests are let through, concurrent ones as well."""
    limiter = limit(Contended())
    with ThreadPoolExecutor(80) as threads:
        outcomes = list(threads.map(lambda _: outcome(limiter, "getEmailPreferences"), range(800)))
    assert outcomes == ["passed"] * 800


def test_concurrent_calls_increment_the_counter_only_up_to_the_limit() -> None:
    """Each process also counts, so that calls over the limit cause no contention."""

    class Slow(InMemoryDocuments):
        asked = 0
        all_wait = threading.Barrier(MAX_CALLS)

        def commit(self, *writes: Write, **limits: float) -> Sequence[Written]:
            self.all_wait.wait(timeout=60)
            self.asked += 1
            return super().commit(*writes, **limits)

    counts = Slow()
    limiter = limit(counts)
    with ThreadPoolExecutor(80) as threads:
        outcomes = list(threads.map(lambda _: outcome(limiter, "getEmailPreferences"), range(800)))
    assert Counter(outcomes) == {"passed": MAX_CALLS, REFUSED: 800 - MAX_CALLS}
    assert counts.asked == MAX_CALLS


@pytest.mark.parametrize("function", ["updateEmailPreferences", "unsubscribe", "getWebhookLog"])
def test_only_the_lookup_passes_without_a_counter(function: str) -> None:
    """Spec 8 names getEmailPreferences. The limiter has a longer timeout for other functions."""
    counts = Contended()
    assert outcome(limit(counts), function) == "failed"
    assert counts.seconds == FIRESTORE_TIMEOUT_SECONDS
    assert outcome(limit(counts), "getEmailPreferences") == "passed"
    assert counts.seconds == FAIL_OPEN_TIMEOUT_SECONDS


def test_calls_over_the_limit_are_not_counted() -> None:
    """The process remembers clients over the limit."""

    class Full(Contended):
        def commit(self, *_: Write, **__: float) -> Sequence[Written]:
            self.asked += 1
            return [Written(0, [MAX_CALLS + 1])]

    counts = Full()
    limiter = limit(counts)
    assert {outcome(limiter, "f") for _ in range(5)} == {REFUSED}
    assert counts.asked == 1
    with pytest.raises(CallError) as refused:
        limiter.require("f", "203.0.113.7")
    assert refused.value.details == {"reason": "calls", "possibleFrom": "2026-05-01T19:00:00.000Z"}


def test_instances_count_together() -> None:
    """Spec 8: a client has 20 calls an hour in all instances together."""
    documents = InMemoryDocuments()
    hours = [NOW]
    limiters = [limit(documents, lambda: hours[0]) for _ in range(2)]
    outcomes = [outcome(limiters[call % 2], "f") for call in range(MAX_CALLS + 2)]
    assert outcomes == ["passed"] * MAX_CALLS + [REFUSED] * 2
    record = documents.get(f"rateLimits/{window()[0]}")
    assert record is not None
    assert record.fields == {"count": MAX_CALLS + 2, "expireAt": window()[1]}
    hours[0] += timedelta(hours=1)
    assert outcome(limiters[0], "f") == "passed"
