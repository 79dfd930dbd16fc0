"""Signed tokens in the links of a mail: a text `payload.sig` that stands for one user and one use.

The payload is `{uid, exp, scope}` as compact JSON in URL-safe base64; the signature is what
`itsdangerous.URLSafeSerializer` makes of it with the scope as its salt, which also reads these
tokens (spec 2.4 and 5, design 3).
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from itsdangerous import Signer
from itsdangerous.encoding import base64_decode, base64_encode

MAX_LENGTH: Final = 4096
"""Characters of a token (spec 8)."""

KEY_BYTES: Final = 32
"""Of a key at least: as many as the signature has."""

_SEPARATOR: Final = "."
_MAX_UID_BYTES: Final = 1500  # of a document's id in Firestore


class Scope(StrEnum):
    """What a token is good for, and nothing else."""

    PREFERENCES = "email-prefs"
    """To see and change the preferences (spec 2.4)."""
    UNSUBSCRIBE = "unsubscribe"
    """To turn recap mails off. Its link reaches logs and mail providers, so it can do no more."""

    @property
    def lifetime(self) -> timedelta:
        """How long a token of this scope is good; a mail may be opened long after it came."""
        return timedelta(days=30) if self is Scope.PREFERENCES else timedelta(days=365)


class InvalidTokenError(Exception):
    """The token is not genuine, has expired, or is for something else; it does not say which."""


class WeakKeyError(ValueError):
    """A key is too short to sign with."""


class TokenKeys:
    """The keys that tokens are signed with; the newest signs, each of them verifies."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` begins with the newest.

        Raises:
            WeakKeyError: there is none, or one has fewer than `KEY_BYTES`.
        """
        if not keys or any(len(key.encode()) < KEY_BYTES for key in keys):
            raise WeakKeyError(f"EMAIL_PREFS_KEY must have {KEY_BYTES} bytes or more")
        self._signers = {
            scope: [
                # Both are the library's ways; its digest is SHA-1 unless told.
                Signer(key, scope, key_derivation="django-concat", digest_method=hashlib.sha256)
                for key in keys
            ]
            for scope in Scope
        }

    def issue(self, uid: str, now: datetime, scope: Scope = Scope.PREFERENCES) -> str:
        """A token of `scope` for the user `uid`, valid for the scope's lifetime from `now`.

        Raises:
            ValueError: `uid` cannot be the id of a user record.
        """
        if not _is_user_id(uid):
            raise ValueError("not a user id")
        fields = {"uid": uid, "exp": int((now + scope.lifetime).timestamp()), "scope": scope}
        # Never compressed, as URLSafeSerializer does with a repetitive id: `check` refuses that, so
        # that nothing is ever unpacked.
        payload = base64_encode(json.dumps(fields, separators=(",", ":")))
        token = self._signers[scope][0].sign(payload).decode()
        if len(token) > MAX_LENGTH:
            raise ValueError("the user id is too long")
        return token

    def check(self, token: object, now: datetime, scope: Scope = Scope.PREFERENCES) -> str:
        """The user id that `token` stands for.

        Raises:
            InvalidTokenError: for every reason, with nothing that tells them apart.
        """
        if not isinstance(token, str) or len(token) > MAX_LENGTH or not token.isascii():
            raise InvalidTokenError
        if token.count(_SEPARATOR) != 1:  # a compressed payload begins with one more
            raise InvalidTokenError
        text = token.encode()
        payload = text.partition(_SEPARATOR.encode())[0]
        # Compared as text: decoded, several signatures are the same bytes, as the last character
        # holds bits that nobody reads. No key is skipped, so that all refusals take as long.
        signers = self._signers[scope]
        genuine = [hmac.compare_digest(signer.sign(payload), text) for signer in signers]
        if not any(genuine):
            raise InvalidTokenError
        return _user_id(payload, now, scope)


def _user_id(payload: bytes, now: datetime, expected: Scope) -> str:
    try:
        fields: Any = json.loads(base64_decode(payload))
    except (ValueError, RecursionError):
        raise InvalidTokenError from None
    if not isinstance(fields, dict):
        raise InvalidTokenError
    uid, expiry, scope = (fields.get(name) for name in ("uid", "exp", "scope"))
    if scope != expected or type(expiry) is not int or expiry <= now.timestamp():
        raise InvalidTokenError
    if not isinstance(uid, str) or not _is_user_id(uid):
        raise InvalidTokenError
    return uid


def _is_user_id(uid: str) -> bool:
    """Whether `uid` can be the id of a document in Firestore.

    https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields
    """
    try:
        size = len(uid.encode())
    except UnicodeError:
        return False
    reserved = uid in (".", "..") or (uid.startswith("__") and uid.endswith("__"))
    return 0 < size <= _MAX_UID_BYTES and "/" not in uid and not reserved
