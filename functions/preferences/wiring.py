"""The preferences' parts, made on first use."""

from functions.gcp.documents import documents
from functions.once import once
from functions.preferences.store.user_store import UserStore


@once
def users() -> UserStore:
    """The user records."""
    return UserStore(documents())
