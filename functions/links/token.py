"""Signed tokens in links: a text `payload.sig` about one subject, for one purpose.

The payload is compact JSON in URL-safe base64: the subject (`uid` and `account`, or `event` and
`share`), `exp` and `scope`. The token is that of `itsdangerous.URLSafeSerializer` with the scope as
its salt (spec 2.4 and 5, design 3.57).
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from itsdangerous import BadData, Serializer, URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode

from functions.call.arguments import is_document_id
from functions.email_address import is_guest_uid

MAX_LENGTH: Final = 4096
"""Characters of a token (spec 8)."""

KEY_BYTES: Final = 32
"""Least length of a key: that of the signature."""


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

_OPTIONAL: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.PREFERENCES: ("account", "box"),
    Scope.UNSUBSCRIBE: ("account", "box"),
    Scope.WEBHOOK_LOG: (),
}
"""Fields of which a subject may have one more: an account that had the address; or `box` in links
of earlier releases, the record of a mailbox. The last of those expire a year after the upgrade."""


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
        self._serializers = {
            scope: _Uncompressed(
                list(reversed(keys)), salt=scope, signer_kwargs={"digest_method": hashlib.sha256}
            )
            for scope in Scope
        }

    def issue(
        self,
        uid: str,
        now: datetime,
        scope: Scope = Scope.PREFERENCES,
        *,
        account: str | None = None,
    ) -> str:
        """Return a token of `scope` about the user record `uid`, valid for the scope's lifetime.

        `account` is an account that has the address, if `uid` is the record of an address.

        Raises:
            ValueError: an id cannot be the id of a document, or `scope` is not about a user.
        """
        about = (uid,) if account is None else (uid, account)
        return self.sign(about, now + _LIFETIMES[scope], scope)

    def sign(self, about: Sequence[str], expires_at: datetime, scope: Scope) -> str:
        """A token of `scope` that is `about` the documents with these ids, in the scope's order.

        It expires with the second of `expires_at`.

        Raises:
            ValueError: the number of ids is not that of the scope, or a text cannot be an id.
        """
        names = _ABOUT[scope]
        if len(about) == len(names) + 1 and (optional := _OPTIONAL[scope]):
            names += (optional[is_guest_uid(about[-1])],)
        if len(about) != len(names) or not all(map(is_document_id, about)):
            raise ValueError(f"a token of {scope} is about {', '.join(names)}")
        fields = dict[str, Any](zip(names, about, strict=True))
        fields |= {"exp": int(expires_at.timestamp()), "scope": scope}
        token = str(self._serializers[scope].dumps(fields))
        if len(token) > MAX_LENGTH:
            raise ValueError("the ids are too long")
        return token

    def verify(
        self, token: object, now: datetime, scope: Scope = Scope.PREFERENCES
    ) -> tuple[str, ...]:
        """The ids that `token` is about, in the scope's order; a missing optional id is left out.

        Raises:
            InvalidTokenError: the token is not valid, for any reason.
        """
        if not isinstance(token, str) or len(token) > MAX_LENGTH:
            raise InvalidTokenError
        try:
            fields = self._serializers[scope].loads(token)
            _, signature = token.split(".")  # three parts: a compressed payload
        except (BadData, ValueError):
            raise InvalidTokenError from None
        # Several texts decode to the same signature: the last character has unused bits.
        if base64_encode(base64_decode(signature)).decode() != signature:
            raise InvalidTokenError
        return _about(fields, now, scope)


class _Uncompressed(URLSafeSerializer):
    """The library's serializer with payloads that have no dot of their own (spec 2.4)."""

    def dump_payload(self, obj: Any, *args: Any, **kwargs: Any) -> bytes:
        return base64_encode(Serializer.dump_payload(self, obj, *args, **kwargs))


def _about(fields: Any, now: datetime, expected: Scope) -> tuple[str, ...]:
    if not isinstance(fields, dict):
        raise InvalidTokenError
    expiry, scope = fields.get("exp"), fields.get("scope")
    if scope != expected or not isinstance(expiry, int) or expiry <= now.timestamp():
        raise InvalidTokenError
    names = [*_ABOUT[expected], *(name for name in _OPTIONAL[expected] if name in fields)][:2]
    about = tuple(value for name in names if isinstance(value := fields.get(name), str))
    if len(about) != len(names) or not all(map(is_document_id, about)):
        raise InvalidTokenError
    return about
