"""The limiter, made on first use."""

import functools
from datetime import UTC, datetime

from functions.gcp.documents import documents
from functions.signed_links.limiter import Limiter


def now() -> datetime:
    """The time, aware and in UTC."""
    return datetime.now(UTC)


@functools.cache
def limiter() -> Limiter:
    """The limit on calls."""
    return Limiter(documents(), now=now)
