"""The limit on a client's calls per hour (spec 8), and the key of its record."""

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from functions import log
from functions.documents.documents import Documents
from functions.documents.write import Merge
from functions.signed_links.link import MAX_CALLS

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


class TooManyCallsError(Exception):
    """The client has used up the calls of this hour; the next hour begins at `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


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


@dataclass(eq=False)
class Limiter:
    """Limits the calls of clients; one instance serves all threads.

    A process keeps its own counts in addition to the shared ones, because many simultaneous calls
    of a client would contend for the shared record.
    """

    documents: Documents
    now: Callable[[], datetime]
    """The time, aware and in UTC."""
    _own: OrderedDict[str, int] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def pass_or_raise(
        self,
        function: str,
        client: str,
        secret: str,
        at_most: int = MAX_CALLS,
        period: timedelta = PERIOD,
    ) -> None:
        """Count a call of `function` by `client`, who has `at_most` calls per `period`.

        `client` is any text that identifies the client, mostly a network address.

        Raises:
            TooManyCallsError: this hour's calls are used up.
            Exception: the call could not be counted, and spec 8 does not let it pass.
        """
        key, end = window_of(function, client, secret=secret, now=self.now(), period=period)
        if self._counted_here(key) > at_most:
            raise TooManyCallsError(end)
        # Firestore deletes the record some time after `expireAt`. There is no retry, because the
        # call may have been counted all the same.
        count = Merge(f"rateLimits/{key}", {"expireAt": end}, add={"count": 1})
        seconds = SOON if function in _LET_THROUGH else PATIENTLY
        try:
            [written] = self.documents.commit(count, seconds=seconds)
        except Exception as error:
            log.warning("limiter.failed", function=function, exception=type(error).__name__)
            if function in _LET_THROUGH:
                return
            raise
        if written.sums[0] > at_most:
            with self._lock:
                self._own[key] = at_most  # refuses further calls without a write
            raise TooManyCallsError(end)

    def _counted_here(self, key: str) -> int:
        with self._lock:
            calls = self._own[key] = self._own.pop(key, 0) + 1
            if len(self._own) > _REMEMBERED_AT_MOST:
                self._own.popitem(last=False)
        return calls
