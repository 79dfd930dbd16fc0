"""The limit on calls of one client in an hour (spec 8), and the record that counts them."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, Self

from functions import log
from functions.recent import Recent

MAX_CALLS: Final = 20
PERIOD: Final = timedelta(hours=1)

_PURPOSE: Final = b"rate-limits"
_KEY_DIGITS: Final = 40
_REMEMBERED_AT_MOST: Final = 10_000


class TooManyCallsError(Exception):
    """The client has used up this hour's calls."""


class CallCounts(Protocol):
    """Counts of calls, safe however many are added at once."""

    def add(self, key: str, expire_at: datetime) -> int:
        """Count one more call under `key` until `expire_at`; how many there are with it.

        Raises:
            Exception: it could not be counted.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One hour of one client's calls of one function: the record `rateLimits/{key}`.

    Hours begin where the clock's do, so that counting takes one write and no reading. `key` tells
    nothing about the client to whoever has not the secret.
    """

    key: str
    expire_at: datetime

    @classmethod
    def of(cls, function: str, client: str, *, secret: str, now: datetime) -> Self:
        """The window that a call of `function` by `client` falls into at `now`."""
        number = int(now.timestamp() // PERIOD.total_seconds())
        # A key of its own: what is known of one use of the secret says nothing about the other.
        derived = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
        counted = f"{function}\n{number}\n{client}".encode()
        end = datetime.fromtimestamp((number + 1) * PERIOD.total_seconds(), UTC)
        return cls(
            key=hmac.new(derived, counted, hashlib.sha256).hexdigest()[:_KEY_DIGITS],
            expire_at=end,
        )


class Limiter:
    """Lets a client's calls through until there are too many; one serves all threads."""

    def __init__(
        self,
        counts: CallCounts,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        """`now` gives the time, aware and in UTC; `monotonic` seconds that only grow."""
        self._counts = counts
        self._now = now
        self._exceeded: Recent[str, bool] = Recent(
            seconds=PERIOD.total_seconds(), at_most=_REMEMBERED_AT_MOST, monotonic=monotonic
        )

    def pass_or_raise(
        self, function: str, client: str, secret: str, at_most: int = MAX_CALLS
    ) -> None:
        """Count a call of `function` by `client`; let it pass if it cannot be counted (spec 8).

        `client` is whoever has `at_most` calls an hour of it; mostly a network address.

        Raises:
            TooManyCallsError: this hour's calls are used up.
        """
        window = Window.of(function, client, secret=secret, now=self._now())
        # A client that goes on and on costs nothing more.
        if self._exceeded.get(window.key):
            raise TooManyCallsError
        try:
            calls = self._counts.add(window.key, window.expire_at)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep anybody out
            log.warning("limiter.failed", function=function, exception=type(error).__name__)
            return
        if calls > at_most:
            self._exceeded.put(window.key, value=True)
            raise TooManyCallsError
