"""The limit on a client's calls per hour (spec 8), and the key of its record."""

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from functions import log
from functions.call.errors import CallError, Code
from functions.firestore.model import Documents, Merge
from functions.ports import Clock, SecretReader, wire_time

MAX_CALLS: Final = 20
"""Calls of a function in a period from one address (spec 8), where no other number is given."""

PERIOD: Final = timedelta(hours=1)

_PURPOSE: Final = b"rate-limits"
_KEY_DIGITS: Final = 40
_REMEMBERED_AT_MOST: Final = 10_000


_LET_THROUGH: Final = frozenset({"getEmailPreferences"})
"""Functions whose calls pass where they cannot be counted (spec 8); calls of others fail."""

SOON: Final = 3.0
"""Seconds for the count of a call that passes where it cannot be counted: enough for the first
connection of a cold process."""

PATIENTLY: Final = 25.0
"""Seconds for the count of any other call, as for the other calls of Firestore; then it fails."""


def window_of(
    function: str, client: str, *, secret: str, now: datetime, period: timedelta = PERIOD
) -> tuple[str, datetime]:
    """The key of the record `rateLimits/{key}` of a client's calls of a function, and its end.

    A call of `function` by `client` at `now` is counted in that record. Windows begin at full
    hours, so that counting takes one write and no read. Without the secret the key reveals nothing
    about the client.
    """
    number = int(now.timestamp() // period.total_seconds())
    # A derived key: tokens and record keys, both made with the secret, reveal nothing of it.
    derived = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
    counted = f"{function}\n{number}\n{client}".encode()
    key = hmac.new(derived, counted, hashlib.sha256).hexdigest()[:_KEY_DIGITS]
    return key, datetime.fromtimestamp((number + 1) * period.total_seconds(), UTC)


@dataclass(slots=True)
class _Calls:
    """A client's calls of a window in this process: `asking` are being counted in Firestore."""

    counted: int = 0
    asking: int = 0
    failed: int = 0


@dataclass(eq=False)
class RateLimit:
    """Limits the calls of clients; one instance serves all threads.

    A process keeps its own counts in addition to the shared ones, because many simultaneous calls
    of a client would contend for the shared record.
    """

    documents: Documents
    clock: Clock
    secrets: SecretReader
    key: str = ""
    """The secret with which the ids of the records are made; none where clients are user ids."""
    _own: OrderedDict[str, _Calls] = field(default_factory=OrderedDict, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)

    def allows(self, function: str, client: str, at_most: int, period: timedelta = PERIOD) -> bool:
        """Count as `require` does; False over the limit."""
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
        refusal: str = "There were too many calls from this address",
    ) -> None:
        """Count a call of `function` by `client`, who has `at_most` calls per `period`.

        `client` is any text that identifies the client, mostly a network address.

        Raises:
            CallError: `resource-exhausted`: the calls are used up; its message begins with
                `refusal` and ends with the time of the next period.
            Exception: the call could not be counted, and spec 8 does not let it pass.
        """
        secret, now = self.secrets.versions(self.key)[0] if self.key else "", self.clock.now()
        key, end = window_of(function, client, secret=secret, now=now, period=period)
        passes_uncounted = function in _LET_THROUGH
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
                count, seconds=SOON if passes_uncounted else PATIENTLY
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
                    # Over the limit, further calls are refused without a write.
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
        """Wait for the calls that are being counted; whether all of them were."""
        before = calls.failed
        ended = self._changed.wait_for(
            lambda: calls.failed > before or not calls.asking, timeout=SOON
        )
        return ended and calls.failed == before


class RateLimits:
    """The rate limits of a process, one for each secret key."""

    def __init__(self, documents: Documents, clock: Clock, secrets: SecretReader) -> None:
        self._documents, self._clock, self._secrets = documents, clock, secrets
        self._kept: dict[str, RateLimit] = {}
        self._lock = threading.Lock()

    def keyed(self, key: str = "") -> RateLimit:
        """Return the limit whose records have ids derived from the secret `key`."""
        with self._lock:
            new = RateLimit(self._documents, self._clock, self._secrets, key)
            return self._kept.setdefault(key, new)


def _too_many(refusal: str, end: datetime) -> CallError:
    return CallError(
        Code.RESOURCE_EXHAUSTED,
        f"{refusal}; try again from {end:%H:%M} UTC on.",
        {"reason": "calls", "possibleFrom": wire_time(end)},
    )
