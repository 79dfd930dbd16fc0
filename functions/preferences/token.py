"""The preferences token: a signed text `payload.sig` that stands for one user (spec 2.4 and 5).

The payload is `{uid, exp, scope}` as compact JSON in URL-safe base64; the signature is what
`itsdangerous.URLSafeSerializer` makes of it, which also reads these tokens.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from itsdangerous import Signer
from itsdangerous.encoding import base64_decode, base64_encode

SCOPE: Final = "email-prefs"
LIFETIME: Final = timedelta(days=30)
MAX_LENGTH: Final = 4096
"""Characters of a token (spec 8)."""

_SEPARATOR: Final = "."
_MAX_UID_BYTES: Final = 1500  # of a document's id in Firestore


class InvalidTokenError(Exception):
    """The token is not genuine, has expired, or is for something else; it does not say which."""


class TokenKeys:
    """The keys that tokens are signed with; the newest signs, each of them verifies."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` begins with the newest.

        Raises:
            ValueError: there is none, or one is empty.
        """
        if not keys or not all(keys):
            raise ValueError("a key is missing")
        self._signers = [
            # Both are the library's ways; its digest is SHA-1 unless told.
            Signer(key, SCOPE, key_derivation="django-concat", digest_method=hashlib.sha256)
            for key in keys
        ]

    def issue(self, uid: str, now: datetime) -> str:
        """A token for the user `uid`, valid for 30 days from `now`.

        Raises:
            ValueError: `uid` cannot be the id of a user record.
        """
        if not _is_user_id(uid):
            raise ValueError("not a user id")
        fields = {"uid": uid, "exp": int((now + LIFETIME).timestamp()), "scope": SCOPE}
        # Never compressed, as URLSafeSerializer does with a repetitive id: `check` refuses that, so
        # that nothing is ever unpacked.
        payload = base64_encode(json.dumps(fields, separators=(",", ":")))
        token = self._signers[0].sign(payload).decode()
        if len(token) > MAX_LENGTH:
            raise ValueError("the user id is too long")
        return token

    def check(self, token: object, now: datetime) -> str:
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
        genuine = [hmac.compare_digest(signer.sign(payload), text) for signer in self._signers]
        if not any(genuine):
            raise InvalidTokenError
        return _user_id(payload, now)


def _user_id(payload: bytes, now: datetime) -> str:
    try:
        fields: Any = json.loads(base64_decode(payload))
    except (ValueError, RecursionError):
        raise InvalidTokenError from None
    if not isinstance(fields, dict):
        raise InvalidTokenError
    uid, expiry, scope = (fields.get(name) for name in ("uid", "exp", "scope"))
    if scope != SCOPE or type(expiry) is not int or expiry <= now.timestamp():
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
