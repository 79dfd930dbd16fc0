"""Signed tokens in links: a text `payload.sig` about one subject, for one purpose.

The payload is compact JSON in URL-safe base64: the subject (`uid`, or `event` and `share`), `exp`
and `scope`. The signature is that of `itsdangerous.URLSafeSerializer` with the scope as its salt;
that class can also read these tokens (spec 2.4 and 5, design 3.57).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from itsdangerous import Signer
from itsdangerous.encoding import base64_decode, base64_encode

MAX_LENGTH: Final = 4096
"""Characters of a token (spec 8)."""

KEY_BYTES: Final = 32
"""Least length of a key: that of the signature."""

_SEPARATOR: Final = "."

_MAX_ID_BYTES: Final = 1500
"""Firestore's limit for the id of a document."""


class Scope(StrEnum):
    """The purpose of a token."""

    PREFERENCES = "email-prefs"
    """To see and change the preferences (spec 2.4)."""
    UNSUBSCRIBE = "unsubscribe"
    """To turn recap mails off. Its link reaches logs and mail providers, so it can do no more."""
    WEBHOOK_LOG = "webhook-log"
    """To see the deliveries to one URL, as the share that it names says (spec 4.11)."""


_LIFETIMES: Final[Mapping[Scope, timedelta]] = {
    Scope.PREFERENCES: timedelta(days=30),
    Scope.UNSUBSCRIBE: timedelta(days=365),
    Scope.WEBHOOK_LOG: timedelta(days=7),
}
"""Longest validity by scope; mails may be opened long after."""

_ABOUT: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.PREFERENCES: ("uid",),
    Scope.UNSUBSCRIBE: ("uid",),
    Scope.WEBHOOK_LOG: ("event", "share"),
}
"""The fields of the subject by scope: ids of documents."""


class InvalidTokenError(Exception):
    """The token is forged, expired or for another purpose; the error does not say which."""


class WeakKeyError(ValueError):
    """A key is too short to sign with."""


class TokenKeys:
    """The keys for tokens: the newest signs, all of them verify."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` begins with the newest.

        Raises:
            WeakKeyError: no key is given, or a key has fewer than `KEY_BYTES`.
        """
        if not keys or any(len(key.encode()) < KEY_BYTES for key in keys):
            raise WeakKeyError(f"A key that signs links must have {KEY_BYTES} bytes or more")
        self._signers = {
            scope: [
                # As URLSafeSerializer does, but with SHA-256 in place of its default, SHA-1.
                Signer(key, scope, key_derivation="django-concat", digest_method=hashlib.sha256)
                for key in keys
            ]
            for scope in Scope
        }

    def issue(self, uid: str, now: datetime, scope: Scope = Scope.PREFERENCES) -> str:
        """A token of `scope` for the user `uid`, valid for the scope's lifetime from `now`.

        Raises:
            ValueError: `uid` cannot be the id of a document, or `scope` is not about a user.
        """
        return self.sign((uid,), now + _LIFETIMES[scope], scope)

    def sign(self, about: Sequence[str], expires_at: datetime, scope: Scope) -> str:
        """A token of `scope` that is `about` the documents with these ids, in the scope's order.

        It expires with the second of `expires_at`.

        Raises:
            ValueError: the number of ids is not that of the scope, or a text cannot be an id.
        """
        names = _ABOUT[scope]
        if len(about) != len(names) or not all(map(_is_id, about)):
            raise ValueError(f"a token of {scope} is about {', '.join(names)}")
        fields = dict[str, Any](zip(names, about, strict=True))
        fields |= {"exp": int(expires_at.timestamp()), "scope": scope}
        # Without URLSafeSerializer's compression: `verify` refuses compressed payloads, so that no
        # stranger's data is ever unpacked.
        payload = base64_encode(json.dumps(fields, separators=(",", ":")))
        token = self._signers[scope][0].sign(payload).decode()
        if len(token) > MAX_LENGTH:
            raise ValueError("the ids are too long")
        return token

    def verify(
        self, token: object, now: datetime, scope: Scope = Scope.PREFERENCES
    ) -> tuple[str, ...]:
        """The ids that `token` is about, in the scope's order.

        Raises:
            InvalidTokenError: the token is not valid, for any reason.
        """
        if not isinstance(token, str) or len(token) > MAX_LENGTH or not token.isascii():
            raise InvalidTokenError
        if token.count(_SEPARATOR) != 1:  # a compressed payload has another separator
            raise InvalidTokenError
        text = token.encode()
        payload = text.partition(_SEPARATOR.encode())[0]
        # Compared as text: several texts decode to the same signature, because the last character
        # has unused bits. All keys are tried, so that all refusals take the same time.
        signers = self._signers[scope]
        genuine = [hmac.compare_digest(signer.sign(payload), text) for signer in signers]
        if not any(genuine):
            raise InvalidTokenError
        return _about(payload, now, scope)


def _about(payload: bytes, now: datetime, expected: Scope) -> tuple[str, ...]:
    try:
        fields: Any = json.loads(base64_decode(payload))
    except (ValueError, RecursionError):
        raise InvalidTokenError from None
    if not isinstance(fields, dict):
        raise InvalidTokenError
    expiry, scope = fields.get("exp"), fields.get("scope")
    if scope != expected or type(expiry) is not int or expiry <= now.timestamp():
        raise InvalidTokenError
    values = [fields.get(name) for name in _ABOUT[expected]]
    about = tuple(value for value in values if isinstance(value, str) and _is_id(value))
    if len(about) != len(values):
        raise InvalidTokenError
    return about


def _is_id(text: str) -> bool:
    """Whether `text` can be the id of a document in Firestore.

    https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields
    """
    try:
        size = len(text.encode())
    except UnicodeError:
        return False
    reserved = text in (".", "..") or (text.startswith("__") and text.endswith("__"))
    return 0 < size <= _MAX_ID_BYTES and "/" not in text and not reserved
