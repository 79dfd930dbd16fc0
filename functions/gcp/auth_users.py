"""User accounts of Firebase Authentication."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import firebase_admin
from firebase_admin import auth

from functions.cache import once

_SECONDS: Final = 10
"""Timeout of one lookup. Short, because a person is waiting."""

_USERS_PER_CALL: Final = 100
_MAX_UID: Final = 128


class FirebaseAccounts:
    """Adapter for `Accounts`. The function's service account needs `firebaseauth.users.get`."""

    def verified_addresses(self, uids: Collection[str]) -> Mapping[str, str]:
        """Implement `Accounts.verified_addresses`."""
        users = _users(uids)
        return {user.uid: user.email for user in users if user.email and user.email_verified}

    def claims_of(self, uid: str) -> Mapping[str, Any] | None:
        """Implement `Accounts.claims_of`."""
        for user in _users([uid]):
            if not user.disabled:
                address = {"email": user.email, "email_verified": user.email_verified}
                return {**(user.custom_claims or {}), **address}
        return None


def _users(uids: Collection[str]) -> list[auth.UserRecord]:
    ids = [auth.UidIdentifier(uid) for uid in sorted(uids) if len(uid) <= _MAX_UID]
    pages = [ids[n : n + _USERS_PER_CALL] for n in range(0, len(ids), _USERS_PER_CALL)]
    return [user for page in pages for user in auth.get_users(page, app=_app()).users]


@once
def _app() -> firebase_admin.App:
    return firebase_admin.initialize_app(options={"httpTimeout": _SECONDS}, name="users")
