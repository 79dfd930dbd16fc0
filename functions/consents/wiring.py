"""Consents, put together for this process on first use."""

import functools

from functions.consents.store import ConsentStore
from functions.gcp.documents import documents


@functools.cache
def consents() -> ConsentStore:
    """The records."""
    return ConsentStore(documents())
