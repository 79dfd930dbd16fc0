"""The preferences' parts, put together for this process on first use, and imported then.

The instances of the other functions have no use for them.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functions.gcp.user_store import UserStore
    from functions.preferences.limiter import Limiter


def now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@functools.cache
def users() -> UserStore:
    """The user records."""
    from functions.gcp import firestore
    from functions.gcp.user_store import UserStore

    return UserStore(firestore.client())


@functools.cache
def limiter() -> Limiter:
    """The limit on calls."""
    from functions.gcp import firestore
    from functions.gcp.call_counts import CallCounts
    from functions.preferences.limiter import Limiter

    return Limiter(CallCounts(firestore.client()), now)
