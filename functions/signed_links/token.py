"""Signed tokens in links: a text `payload.sig` that is about one thing and good for one use.

The payload is compact JSON in URL-safe base64: what it is about (`uid`, or `event` and `share`),
`exp` and `scope`. The signature is what `itsdangerous.URLSafeSerializer` makes of it with the scope
as its salt, which also reads these tokens (spec 2.4 and 5, design 3).
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
"""Of a key at least: as many as the signature has."""

_SEPARATOR: Final = "."
_MAX_ID_BYTES: Final = 1500  # of a document in Firestore


class Scope(StrEnum):
    """What a token is good for, and nothing else."""

    PREFERENCES = "email-prefs"
    """To see and change the preferences (spec 2.4)."""
    UNSUBSCRIBE = "unsubscribe"
    """To turn recap mails off. Its link reaches logs and mail providers, so it can do no more."""
    WEBHOOK_LOG = "webhook-log"
    """To see the deliveries to one URL, as the share that it names says (spec 4.11)."""

    @property
    def lifetime(self) -> timedelta:
        """How long a token of this scope is good, at most; mails may be opened long after."""
        return _LIFETIMES[self]


_LIFETIMES: Final[Mapping[Scope, timedelta]] = {
    Scope.PREFERENCES: timedelta(days=30),
    Scope.UNSUBSCRIBE: timedelta(days=365),
    Scope.WEBHOOK_LOG: timedelta(days=7),
}

_ABOUT: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.PREFERENCES: ("uid",),
    Scope.UNSUBSCRIBE: ("uid",),
    Scope.WEBHOOK_LOG: ("event", "share"),
}
"""The fields that say what a token of a scope is about: ids of documents, each of them."""


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
            raise WeakKeyError(f"A key that signs links must have {KEY_BYTES} bytes or more")
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
            ValueError: `uid` cannot be the id of a user record, or `scope` is not about a user.
        """
        return self.sign((uid,), now + scope.lifetime, scope)

    def check(self, token: object, now: datetime, scope: Scope = Scope.PREFERENCES) -> str:
        """The user id that `token` stands for.

        Raises:
            InvalidTokenError: for every reason, with nothing that tells them apart.
        """
        about = self.verify(token, now, scope)
        if len(about) != 1:
            raise InvalidTokenError
        return about[0]

    def sign(self, about: Sequence[str], expires_at: datetime, scope: Scope) -> str:
        """A token of `scope` that is `about` the documents with these ids, in the scope's order.

        It expires with the second of `expires_at`.

        Raises:
            ValueError: they are not as many as the scope has, or one cannot be an id.
        """
        names = _ABOUT[scope]
        if len(about) != len(names) or not all(map(_is_id, about)):
            raise ValueError(f"a token of {scope} is about {', '.join(names)}")
        fields = dict[str, Any](zip(names, about, strict=True))
        fields |= {"exp": int(expires_at.timestamp()), "scope": scope}
        # Never compressed, as URLSafeSerializer does with a repetitive id: `verify` refuses that,
        # so that nothing is ever unpacked.
        payload = base64_encode(json.dumps(fields, separators=(",", ":")))
        token = self._signers[scope][0].sign(payload).decode()
        if len(token) > MAX_LENGTH:
            raise ValueError("the ids are too long")
        return token

    def verify(self, token: object, now: datetime, scope: Scope) -> tuple[str, ...]:
        """The ids that `token` is about, in the scope's order.

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
    about = tuple(one for one in values if isinstance(one, str) and _is_id(one))
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
