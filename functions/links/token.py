"""Signed tokens in links. A token is a text `payload.sig` about one subject, for one purpose.

The payload is compact JSON in URL-safe base64: the subject (`uid` and `account`, or `event` and
`share`), `exp` and `scope`. `itsdangerous.URLSafeSerializer` signs the token with the scope as the
salt (spec 2.4 and 5, design 3.57).
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
"""Maximum characters of a token (spec 8)."""

KEY_BYTES: Final = 32
"""Minimum length of a key, equal to the length of the signature."""


class Scope(StrEnum):
    """Purpose of a token."""

    PREFERENCES = "email-prefs"
    """View and change the preferences (spec 2.4)."""
    UNSUBSCRIBE = "unsubscribe"
    """Opt out of recaps, and no other action, because logs and email providers see the link."""
    WEBHOOK_LOG = "webhook-log"
    """View the deliveries to one URL, as permitted by the share in the token (spec 4.11)."""


_LIFETIMES: Final[Mapping[Scope, timedelta]] = {
    Scope.PREFERENCES: timedelta(days=30),
    Scope.UNSUBSCRIBE: timedelta(days=365),
    Scope.WEBHOOK_LOG: timedelta(days=7),
}
"""Maximum validity by scope. Emails may be opened long after they were sent."""

_ABOUT: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.PREFERENCES: ("uid",),
    Scope.UNSUBSCRIBE: ("uid",),
    Scope.WEBHOOK_LOG: ("event", "share"),
}
"""Fields of the subject by scope. The values are document IDs."""

_OPTIONAL: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.PREFERENCES: ("account", "box"),
    Scope.UNSUBSCRIBE: ("account", "box"),
    Scope.WEBHOOK_LOG: (),
}
"""Optional fields of the subject, at most one per token. `account` is an account that had the
address when the link was signed. `box` is the record of a mailbox, in links of earlier releases.
These links expire a year after the upgrade."""


class InvalidTokenError(Exception):
    """The token is forged, expired or for another purpose. The error does not reveal which."""


class WeakKeyError(ValueError):
    """A key is too short to sign with."""


class TokenKeys:
    """Keys for tokens. The newest key signs, and all keys verify."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Use `keys`, newest first.

        Raises:
            WeakKeyError: There is no key, or a key has fewer than `KEY_BYTES`.
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
            ValueError: An ID is not a valid document ID, or `scope` is not about a user.
        """
        about = (uid,) if account is None else (uid, account)
        return self.sign(about, now + _LIFETIMES[scope], scope)

    def sign(self, about: Sequence[str], expires_at: datetime, scope: Scope) -> str:
        """Return a token of `scope` about the documents with these IDs, in the scope's order.

        The token expires at `expires_at`, rounded down to seconds.

        Raises:
            ValueError: The number of IDs is wrong for the scope, or a text is not a valid ID.
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
            raise ValueError("the IDs are too long")
        return token

    def verify(
        self, token: object, now: datetime, scope: Scope = Scope.PREFERENCES
    ) -> tuple[str, ...]:
        """Verify `token` and return its IDs in the scope's order, without a missing optional ID.

        Raises:
            InvalidTokenError: The token is invalid for any reason.
        """
        if not isinstance(token, str) or len(token) > MAX_LENGTH:
            raise InvalidTokenError
        try:
            fields = self._serializers[scope].loads(token)
            _, signature = token.split(".")  # a compressed payload has three parts
        except (BadData, ValueError):
            raise InvalidTokenError from None
        # Several texts decode to the same signature, because its last character has unused bits.
        if base64_encode(base64_decode(signature)).decode() != signature:
            raise InvalidTokenError
        return _about(fields, now, scope)


class _Uncompressed(URLSafeSerializer):
    """Serializer without compression, so that payloads contain no dot (spec 2.4)."""

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
