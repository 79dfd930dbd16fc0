"""SendGrid's signed Event Webhook: what it tells of mails.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features

SendGrid signs the text of the time and the bytes of the body, with a key of the account. Nothing of
a body is parsed before it has verified.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from functions.mail.fate import NOTHING_YET, Fate
from functions.mail.told import Told

SIGNATURE_HEADER: Final = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP_HEADER: Final = "X-Twilio-Email-Event-Webhook-Timestamp"

MAX_BODY_BYTES: Final = 1_000_000
"""SendGrid's requests have 768 KB at most."""

MAX_AGE: Final = timedelta(hours=25)
"""SendGrid repeats a request for up to 24 hours, and does not say whether it signs the repetition
anew. An old request does no harm, because recording is idempotent."""

MAX_AHEAD: Final = timedelta(minutes=5)
"""Clocks differ."""

_TIMESTAMP: Final = re.compile(r"[0-9]{1,11}", re.ASCII)
_SIGNATURE_CHARACTERS: Final = 100  # of base64, for two numbers of 32 bytes in DER

_EVENTS: Final[Mapping[object, Fate]] = {
    "delivered": Fate.DELIVERED,
    "bounce": Fate.BOUNCED,
    "dropped": Fate.DROPPED,
    "spamreport": Fate.COMPLAINED | Fate.UNWELCOME,
    "unsubscribe": Fate.UNWELCOME,
    "group_unsubscribe": Fate.UNWELCOME,
}
"""By `event`. Others (`processed`, `deferred`, `open`, `click`) say nothing about where a mail has
come to an end."""

_DROPPED: Final[Mapping[str, Fate]] = {
    "bounced address": Fate.UNREACHABLE,
    "invalid": Fate.UNREACHABLE,
    "unsubscribed address": Fate.UNWELCOME,
    "spam reporting address": Fate.UNWELCOME,
}
"""By `reason` of `dropped`: what SendGrid's own lists know of the address."""

_HARD: Final = "bounce"  # `type` of a bounce; `blocked` is about this mail, or this day


class UnusableKeyError(ValueError):
    """A public key is not of the kind that SendGrid shows."""


class EventKeys:
    """Public keys, any of which may have signed a request."""

    def __init__(self, text: str) -> None:
        """Take keys as SendGrid shows them: DER in base64, with commas between several.

        Raises:
            UnusableKeyError: one of them is none, or not of the curve P-256.
        """
        self._keys = [_key(one.strip()) for one in text.split(",") if one.strip()]

    def __bool__(self) -> bool:
        return bool(self._keys)

    def plausible(self, signature: str, timestamp: str, now: datetime) -> bool:
        """Whether the headers are well formed, and from `MAX_AGE` before `now` or later."""
        if not _TIMESTAMP.fullmatch(timestamp) or len(signature) > _SIGNATURE_CHARACTERS:
            return False
        age = now.timestamp() - int(timestamp)
        if not -MAX_AHEAD.total_seconds() <= age <= MAX_AGE.total_seconds():
            return False
        return _decoded(signature) is not None

    def verify(self, signature: str, timestamp: str, body: bytes, now: datetime) -> bool:
        """Whether SendGrid has sent `body`, `MAX_AGE` before `now` or later."""
        signed = _decoded(signature)
        if signed is None or not self.plausible(signature, timestamp, now):
            return False
        text = timestamp.encode() + body
        return any(_has_signed(one, signed, text) for one in self._keys)


def _decoded(signature: str) -> bytes | None:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return None


def _key(text: str) -> ec.EllipticCurvePublicKey:
    try:
        key = load_der_public_key(base64.b64decode(text, validate=True))
    except Exception as error:
        raise UnusableKeyError from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise UnusableKeyError
    return key


def _has_signed(key: ec.EllipticCurvePublicKey, signature: bytes, text: bytes) -> bool:
    try:
        key.verify(signature, text, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def told(body: bytes) -> Sequence[Told] | None:
    """What a body that has verified tells; None where it is not a list of events.

    What is no event, and events that say nothing of a mail's end, are left out.
    """
    try:
        events = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(events, list):
        return None
    found = ((_fate(one), one) for one in events if isinstance(one, dict))
    return [Told(fate, event) for fate, event in found if fate]


def _fate(event: Mapping[str, Any]) -> Fate:
    kind = event.get("event")
    fate = _EVENTS.get(kind, NOTHING_YET) if isinstance(kind, str) else NOTHING_YET
    if fate is Fate.DROPPED:
        fate |= _DROPPED.get(str(event.get("reason")).lower(), NOTHING_YET)
    if fate is Fate.BOUNCED and event.get("type") == _HARD:
        fate |= Fate.UNREACHABLE
    return fate
