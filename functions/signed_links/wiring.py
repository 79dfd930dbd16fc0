"""The limiter, made on first use."""

import functools
from typing import Final

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.signed_links.limiter import Limiter

now: Final = CLOCK.now


@functools.cache
def limiter() -> Limiter:
    """The limit on calls."""
    return Limiter(documents(), now=now)
