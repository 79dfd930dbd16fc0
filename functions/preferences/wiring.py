"""The preferences' parts, put together for this process on first use."""

import functools
import time
from datetime import UTC, datetime

from functions.gcp.documents import documents
from functions.preferences.store.user_store import UserStore
from functions.signed_links.call_counts import CallCountStore
from functions.signed_links.limiter import Limiter


def now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@functools.cache
def users() -> UserStore:
    """The user records."""
    return UserStore(documents())


@functools.cache
def limiter() -> Limiter:
    """The limit on calls."""
    return Limiter(CallCountStore(documents()), now=now, monotonic=time.monotonic)
