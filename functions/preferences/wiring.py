"""The preferences' parts, made on first use."""

import functools

from functions.gcp.documents import documents
from functions.preferences.store.user_store import UserStore


@functools.cache
def users() -> UserStore:
    """The user records."""
    return UserStore(documents())
