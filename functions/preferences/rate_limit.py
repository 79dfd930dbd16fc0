"""The limit on calls of one client: 20 an hour (spec 8), and the record that counts them."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

MAX_CALLS: Final = 20
PERIOD: Final = timedelta(hours=1)

_PURPOSE: Final = b"rate-limits"
_KEY_DIGITS: Final = 40


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
