"""Signatures of deliveries, and the webhook secret of each event.

A delivery has `Wall-Signature` (spec 5) and the signature of Standard Webhooks (spec 6.2).
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

An instance caches a secret until the announced secret is due. It signs with the announced secret
only after it has read a record in which that secret is current. A secret that was withdrawn in time
is therefore never used (spec 2.1, 4.8).
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from functions import cache, ports
from functions.firestore.model import ChangedMeanwhileError, Documents, Version, write_as_read

SIGNATURE_HEADER: Final = "Wall-Signature"
WHSEC: Final = "whsec_"
"""Prefix of the secrets that the service generates, as in Standard Webhooks."""

SECRET_KEPT: Final = timedelta(minutes=1)
"""Maximum time that a process signs with a secret without reading the record again."""

_FIELDS: Final = ("secret", "rotatedAt", "rotatedBy", "next", "nextBy")
"""Fields of the document `events/{eventId}/secrets/webhooks`."""


def sign(secret: str, body: bytes, *, at: int) -> str:
    """Return the value of `Wall-Signature` for `body`, signed `at` that Unix time in seconds.

    The signature is the HMAC-SHA256 of `<t>.<body>` with `secret` as the key, in lowercase hex.
    """
    mac = hmac.digest(secret.encode(), b"%d.%b" % (at, body), "sha256")
    return f"t={at},v1={mac.hex()}"


def standard_headers(secret: str, delivery_id: str, body: bytes, *, at: int) -> Mapping[str, str]:
    """Return the three headers of Standard Webhooks for `body`, signed `at` that Unix time.

    The signature is the HMAC-SHA256 of `<id>.<t>.<body>` in base64.
    """
    signed = b"%b.%d.%b" % (delivery_id.encode(), at, body)
    mac = hmac.digest(_standard_key(secret), signed, "sha256")
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(mac).decode()}",
    }


def _standard_key(secret: str) -> bytes:
    """Decode the base64 part of a `whsec_` secret. Other secrets are used as UTF-8 text.

    Secrets from before the service supported Standard Webhooks are not valid base64.
    """
    if secret.startswith(WHSEC):
        with suppress(ValueError):
            return b64decode(secret.removeprefix(WHSEC), validate=True) or secret.encode()
    return secret.encode()


@dataclass(frozen=True, slots=True)
class NextSecret:
    """A secret that is used from `active_from` on, and the user who announced it (uid, email)."""

    secret: str = field(repr=False)
    active_from: datetime
    by: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSecret:
    """The current secret of an event, its last rotation (time and user), and the next secret.

    `version` is the version of the record when it was read, or None if there was no record.
    """

    secret: str = field(repr=False)
    rotated_at: datetime | None = None
    rotated_by: Mapping[str, Any] | None = None
    next: NextSecret | None = None
    version: Version | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, fields: Mapping[str, Any], version: Version | None = None) -> Self:
        """Parse the fields of the document. `secret` is "" if the document has no secret.

        An invalid announcement is ignored.
        """
        secret, rotated_at = fields.get("secret"), fields.get("rotatedAt")
        if not isinstance(secret, str) or not secret:
            return cls(secret="", version=version)
        return cls(
            secret=secret,
            rotated_at=rotated_at if isinstance(rotated_at, datetime) else None,
            rotated_by=_user(fields.get("rotatedBy")),
            next=_next(fields.get("next"), fields.get("nextBy")),
            version=version,
        )

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the document, of `_FIELDS`."""
        written: dict[str, Any] = {"secret": self.secret}
        if self.rotated_at:
            written["rotatedAt"] = self.rotated_at
        if self.rotated_by:
            written["rotatedBy"] = self.rotated_by
        if self.next:
            written["next"] = {"secret": self.next.secret, "activeFrom": self.next.active_from}
            if self.next.by:
                written["nextBy"] = self.next.by
        return written

    def is_over(self, now: datetime) -> bool:
        """Return whether the next secret is active `now`."""
        return self.next is not None and now >= self.next.active_from

    def at(self, now: datetime) -> Self:
        """Return the secret as of `now`: once the next secret is due, it is the only secret."""
        if self.next is None or not self.is_over(now):
            return self
        return type(self)(
            secret=self.next.secret,
            rotated_at=self.next.active_from,
            rotated_by=self.next.by,
            version=self.version,
        )


def _next(entry: object, by: object) -> NextSecret | None:
    match entry:
        case {"secret": str(secret), "activeFrom": datetime() as active_from} if secret:
            return NextSecret(secret, active_from, _user(by))
    return None


def _user(entry: object) -> Mapping[str, Any] | None:
    return entry if isinstance(entry, Mapping) else None


@dataclass
class RememberedSecrets:
    """Cache of the webhook secret of each event. Shared by all threads of the process."""

    documents: Documents
    random: ports.Random
    clock: ports.Clock
    _kept: cache.TtlCache[str, WebhookSecret] = field(init=False)

    def __post_init__(self) -> None:
        """Create an empty cache."""
        seconds = SECRET_KEPT.total_seconds()
        self._kept = cache.TtlCache(self.clock, seconds=seconds)

    def of(self, event_id: str) -> str:
        """Return the current secret of the event, and create it if it is missing (design 3.23)."""
        kept = self._kept.get(event_id)
        while kept is None or kept.is_over(self.clock.now()):
            asked = self.clock.monotonic()
            read = self._change(event_id, lambda secret: secret)
            # A delayed call may have read a secret that was replaced meanwhile.
            kept = read if self.clock.monotonic() - asked <= SECRET_KEPT.total_seconds() else None
        return kept.secret

    def create(self, event_id: str) -> None:
        """Create the event's secret with one write, unless it exists."""
        with suppress(ChangedMeanwhileError):
            self._write(event_id, WebhookSecret(secret=self.random.webhook_secret()))

    def rotate(self, event_id: str, by: Mapping[str, Any] | None = None) -> None:
        """Replace the event's secret immediately and cancel an announced secret.

        Other processes may sign with the old secret for a minute.
        """
        fresh = WebhookSecret(
            secret=self.random.webhook_secret(), rotated_at=self.clock.now(), rotated_by=by
        )
        self._change(event_id, lambda present: replace(fresh, version=present.version))

    def announce(
        self, event_id: str, active_from: datetime, by: Mapping[str, Any] | None = None
    ) -> None:
        """Announce a new secret from `active_from` on, instead of an already announced secret."""
        announced = NextSecret(self.random.webhook_secret(), active_from, by)
        self._change(event_id, lambda present: replace(present, next=announced))

    def withdraw(self, event_id: str) -> bool:
        """Withdraw the announced secret, so that it is never used, and return whether it existed.

        A write is repeated if its response was lost. The second write finds no announced secret.
        """
        announced = None

        def without(present: WebhookSecret) -> WebhookSecret:
            nonlocal announced
            announced = present.next or announced
            return replace(present, next=None)

        left = self._change(event_id, without)
        return announced is not None and announced.secret != left.secret

    def _change(
        self, event_id: str, change: Callable[[WebhookSecret], WebhookSecret]
    ) -> WebhookSecret:
        """Write the changed secret, cache it and return it.

        First create a missing secret, and replace the old secret if an announced secret is due.
        """
        made = self.random.webhook_secret()
        while True:
            asked = self.clock.monotonic()
            record = self.documents.get(_path(event_id), _FIELDS)
            recorded = WebhookSecret(secret="")
            if record:
                recorded = WebhookSecret.read(record.fields, record.version)
            present = recorded if recorded.secret else replace(recorded, secret=made)
            changed = change(present.at(self.clock.now()))
            try:
                if changed != recorded:
                    self._write(event_id, changed)
            except ChangedMeanwhileError:
                continue  # another process was faster, and its secret is used
            self._kept.put(event_id, value=changed, since=asked)
            return changed

    def _write(self, event_id: str, secret: WebhookSecret) -> None:
        """Write the secret to the record and keep the record's other fields.

        Raises:
            ChangedMeanwhileError: The version of the record has changed.
        """
        fields = secret.fields
        gone = [name for name in _FIELDS if name not in fields]
        self.documents.commit(write_as_read(_path(event_id), fields, secret.version, delete=gone))


def _path(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"
