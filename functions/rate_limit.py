"""Rate limits: the number of calls of a client per hour (spec 8), and the keys of their records."""

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from functions import log, ports
from functions.call.errors import CallError, Code
from functions.firestore.model import FIRESTORE_TIMEOUT_SECONDS, Documents, Merge

MAX_CALLS: Final = 20
"""Default limit of calls of a function per period and client address (spec 8)."""

PERIOD: Final = timedelta(hours=1)

_PURPOSE: Final = b"rate-limits"
_KEY_DIGITS: Final = 40
_REMEMBERED_AT_MOST: Final = 10_000


_FAIL_OPEN_FUNCTIONS: Final = frozenset({"getEmailPreferences"})
"""Functions that fail open when the limiter is unavailable (spec 8). All others fail closed."""

FAIL_OPEN_TIMEOUT_SECONDS: Final = 3.0
"""Firestore timeout of calls that fail open. Long enough for a cold start's first connection."""


def window_of(
    function: str, client: str, *, secret: str, now: datetime, period: timedelta
) -> tuple[str, datetime]:
    """Return the key of the record `rateLimits/{key}` that counts a call, and its window's end.

    Windows start at multiples of `period`, such as full hours, so counting costs one write and no
    read. Without the secret the key reveals nothing about the client.
    """
    number = int(now.timestamp() // period.total_seconds())
    # A derived key, so that the keys of records cannot reveal the key of tokens.
    derived = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
    counted = f"{function}\n{number}\n{client}".encode()
    key = hmac.new(derived, counted, hashlib.sha256).hexdigest()[:_KEY_DIGITS]
    return key, datetime.fromtimestamp((number + 1) * period.total_seconds(), UTC)


@dataclass(slots=True)
class _Calls:
    """Counts of a client's calls to this process in one window.

    The write of a call in `asking` is pending, and the write of a call in `failed` has failed.
    """

    counted: int = 0
    asking: int = 0
    failed: int = 0


@dataclass(eq=False)
class RateLimit:
    """Limit of the calls of clients. Shared by all threads.

    A process has its own counts in addition to the shared counts, because many concurrent calls of
    a client would contend for the shared record.
    """

    documents: Documents
    clock: ports.Clock
    secrets: ports.SecretReader
    key: str
    """Name of the secret for the record IDs. Empty if clients are user IDs."""
    _own: OrderedDict[str, _Calls] = field(default_factory=OrderedDict, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)

    def allows(self, function: str, client: str, at_most: int, period: timedelta = PERIOD) -> bool:
        """Count a call as `require` does, and return whether it is within the limit."""
        try:
            self.require(function, client, at_most, period)
        except CallError:
            return False
        return True

    def require(
        self,
        function: str,
        client: str,
        at_most: int = MAX_CALLS,
        period: timedelta = PERIOD,
        refusal: str = "Too many requests from this IP address",
    ) -> None:
        """Count a call of `function` by `client`, with a limit of `at_most` calls per `period`.

        `client` is a text that identifies the client, usually a network address.

        Raises:
            CallError: `resource-exhausted` over the limit. The message starts with `refusal` and
                contains the start of the next period.
            Exception: The call could not be counted, and the function fails closed.
        """
        secret, now = self.secrets.versions(self.key)[0] if self.key else "", self.clock.now()
        key, end = window_of(function, client, secret=secret, now=now, period=period)
        passes_uncounted = function in _FAIL_OPEN_FUNCTIONS
        with self._changed:
            calls = self._calls(key)
            if calls.counted + calls.asking >= at_most:
                if not passes_uncounted or self._are_counted(calls):
                    raise _too_many(refusal, end)
                return
            calls.asking += 1
        # Firestore deletes the record some time after `expireAt`.
        count = Merge(f"rateLimits/{key}", {"expireAt": end}, add={"count": 1})
        sums: Sequence[int] = ()
        try:
            [written] = self.documents.commit(
                count,
                seconds=FAIL_OPEN_TIMEOUT_SECONDS
                if passes_uncounted
                else FIRESTORE_TIMEOUT_SECONDS,
            )
            sums = written.sums
        except Exception as error:
            log.warning("limiter.failed", function=function, exception=type(error).__name__)
            if passes_uncounted:
                return
            raise
        finally:
            with self._changed:
                calls.asking -= 1
                if sums:
                    # Over the limit, further calls are rejected without a write.
                    calls.counted = at_most if sums[0] > at_most else calls.counted + 1
                else:
                    calls.failed += 1
                self._changed.notify_all()
        if sums[0] > at_most:
            raise _too_many(refusal, end)

    def _calls(self, key: str) -> _Calls:
        calls = self._own[key] = self._own.pop(key, _Calls())
        if len(self._own) > _REMEMBERED_AT_MOST:
            self._own.popitem(last=False)
        return calls

    def _are_counted(self, calls: _Calls) -> bool:
        """Wait for pending writes, and return whether all calls were counted."""
        before = calls.failed
        ended = self._changed.wait_for(
            lambda: calls.failed > before or not calls.asking, timeout=FAIL_OPEN_TIMEOUT_SECONDS
        )
        return ended and calls.failed == before


class RateLimits:
    """Rate limits of a process, one for each secret key."""

    def __init__(
        self, documents: Documents, clock: ports.Clock, secrets: ports.SecretReader
    ) -> None:
        self._documents, self._clock, self._secrets = documents, clock, secrets
        self._kept: dict[str, RateLimit] = {}
        self._lock = threading.Lock()

    def keyed(self, key: str = "") -> RateLimit:
        """Return the limit with record IDs that are derived from the secret `key`."""
        with self._lock:
            new = RateLimit(self._documents, self._clock, self._secrets, key)
            return self._kept.setdefault(key, new)


def _too_many(refusal: str, end: datetime) -> CallError:
    return CallError(
        Code.RESOURCE_EXHAUSTED,
        f"{refusal}. Try again at {end:%H:%M} UTC.",
        {"reason": "calls", "possibleFrom": ports.wire_time(end)},
    )
