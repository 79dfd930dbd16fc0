"""The limiter, made on first use."""

from typing import Final

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.signed_links.limiter import Limiter

now: Final = CLOCK.now


@once
def limiter() -> Limiter:
    """The limit on calls."""
    return Limiter(documents(), now=now)
