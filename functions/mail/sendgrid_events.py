"""SendGrid's signed Event Webhook.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features

SendGrid signs the time stamp's text followed by the body, with a key of the account. A body is
parsed only after its signature has verified.
"""

import base64
import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from functions.mail.mail_status import DeliveryReport, DeliveryStatus
from functions.mail.outcome import MisconfiguredError

SIGNATURE_HEADER: Final = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP_HEADER: Final = "X-Twilio-Email-Event-Webhook-Timestamp"

MAX_AGE: Final = timedelta(hours=25)
"""SendGrid repeats a request for up to 24 hours, and does not document whether it signs the
repetition anew. An old request does no harm, because recording is idempotent."""

MAX_AHEAD: Final = timedelta(minutes=5)
"""How far SendGrid's clock may be ahead of this one."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,11}", re.ASCII)

_KEYS: Final = ("SENDGRID_WEBHOOK_KEY", "public keys as SendGrid shows them, or empty")

_STATUS: Final[Mapping[object, DeliveryStatus]] = {
    "delivered": DeliveryStatus.DELIVERED,
    "bounce": DeliveryStatus.BOUNCED,
    "dropped": DeliveryStatus.DROPPED,
    "spamreport": DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME,
    "unsubscribe": DeliveryStatus.UNWELCOME,
    "group_unsubscribe": DeliveryStatus.UNWELCOME,
}
"""The final status in each `event`. `processed`, `deferred`, `open` and `click` have none."""

_DROP_REASONS: Final[Mapping[str, DeliveryStatus]] = {
    "bounced address": DeliveryStatus.UNREACHABLE,
    "invalid": DeliveryStatus.UNREACHABLE,
    "unsubscribed address": DeliveryStatus.UNWELCOME,
    "spam reporting address": DeliveryStatus.UNWELCOME,
}
"""Facts in the `reason` of a drop, which names the suppression list with the address."""

_HARD_BOUNCE: Final = "bounce"
"""`type` of a hard bounce. The other type, `blocked`, does not predict later emails."""


@dataclass(frozen=True)
class SendGridWebhook:
    """Verifier and parser of SendGrid's requests, signed by any of several keys."""

    max_body_bytes: ClassVar = 1_000_000
    """SendGrid sends at most 768 KB."""

    encoded_keys: str
    """Public keys as SendGrid shows them: DER in base64, separated by commas."""

    @functools.cached_property
    def keys(self) -> list[ec.EllipticCurvePublicKey]:
        """The public keys. Without a key, every request is rejected.

        Raises:
            MisconfiguredError: A key is invalid, or is not on the curve P-256.
        """
        return [_key(text) for text in map(str.strip, self.encoded_keys.split(",")) if text]

    def is_signed(self, headers: Mapping[str, str]) -> bool:
        """Return whether the headers have a signature."""
        return all(_signature(headers))

    def signature(self, headers: Mapping[str, str], now: datetime) -> tuple[bytes, bytes] | None:
        """Return the signature in DER and the time stamp that was signed with the body.

        Return None if they are malformed or old. Then the body need not be read.
        """
        signature, timestamp = _signature(headers)
        if not _TIMESTAMP.fullmatch(timestamp):
            return None
        age = now.timestamp() - int(timestamp)
        if not -MAX_AHEAD.total_seconds() <= age <= MAX_AGE.total_seconds():
            return None
        try:
            decoded = base64.b64decode(signature, validate=True)
            decode_dss_signature(decoded)
        except ValueError:
            return None
        return decoded, timestamp.encode()

    def is_genuine(self, signature: tuple[bytes, bytes], body: bytes) -> bool:
        """Return whether SendGrid signed `body`, by the result of `signature`."""
        decoded, timestamp = signature
        return any(_has_signed(key, decoded, timestamp + body) for key in self.keys)

    def reports(self, body: bytes) -> Sequence[DeliveryReport] | None:
        """Return the delivery reports in a verified body, or None if the body is not a list.

        Entries without a final status are skipped.
        """
        try:
            entries = json.loads(body)
        except (ValueError, RecursionError):
            return None
        if not isinstance(entries, list):
            return None
        with_status = ((_status(entry), entry) for entry in entries if isinstance(entry, dict))
        return [
            DeliveryReport(status, entry, str(entry.get("email", "")))
            for status, entry in with_status
            if status
        ]


def _signature(headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the signature and the time stamp. Each is empty if its header is missing."""
    return headers.get(SIGNATURE_HEADER, ""), headers.get(TIMESTAMP_HEADER, "")


def _key(text: str) -> ec.EllipticCurvePublicKey:
    try:
        key = load_der_public_key(base64.b64decode(text, validate=True))
    except Exception as error:
        raise MisconfiguredError(*_KEYS) from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise MisconfiguredError(*_KEYS)
    return key


def _has_signed(key: ec.EllipticCurvePublicKey, signature: bytes, text: bytes) -> bool:
    try:
        key.verify(signature, text, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _status(entry: Mapping[str, Any]) -> DeliveryStatus:
    kind = entry.get("event")
    status = _STATUS.get(kind if isinstance(kind, str) else None, DeliveryStatus.NONE)
    if status is DeliveryStatus.DROPPED:
        status |= _DROP_REASONS.get(str(entry.get("reason")).lower(), DeliveryStatus.NONE)
    if status is DeliveryStatus.BOUNCED and entry.get("type") == _HARD_BOUNCE:
        status |= DeliveryStatus.UNREACHABLE
    return status
