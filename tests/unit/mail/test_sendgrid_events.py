"""SendGrid's signed delivery reports: verification and parsing (design 3.60)."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from functions.mail.mail_status import DeliveryReport
from functions.mail.mail_status import DeliveryStatus as Status
from functions.mail.outcome import MisconfiguredError
from functions.mail.sendgrid_events import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    SendGridWebhook,
)

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
AT: Final = str(int(NOW.timestamp()))
BODY: Final = b'[{"event":"delivered"}]\r\n'
KEY: Final = ec.generate_private_key(ec.SECP256R1())

# From the tests of SendGrid's own library:
# https://github.com/sendgrid/sendgrid-python/blob/main/test/unit/test_eventwebhook.py
THEIR_KEY: Final = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+"
    "2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="
)
THEIR_SIGNATURE: Final = (
    "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtE"
    "ZtM="
)
THEIR_TIME: Final = "1600112502"
THEIR_BODY: Final = (
    b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
    b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
    b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
    b'"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>",'
    b'"timestamp":1600112492}]\r\n'
)


def public(key: Any) -> str:
    """Return the public key in the format of SendGrid."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def signed(key: ec.EllipticCurvePrivateKey = KEY, at: str = AT, body: bytes = BODY) -> str:
    """Sign like SendGrid."""
    return base64.b64encode(key.sign(at.encode() + body, ec.ECDSA(SHA256()))).decode()


WEBHOOK: Final = SendGridWebhook(public(KEY))


def verifies(
    signature: str,
    timestamp: str = AT,
    body: bytes = BODY,
    now: datetime = NOW,
    webhook: SendGridWebhook = WEBHOOK,
) -> bool:
    """Return whether the webhook accepts a request with these headers."""
    found = webhook.signature({SIGNATURE_HEADER: signature, TIMESTAMP_HEADER: timestamp}, now)
    return found is not None and webhook.is_genuine(found, body)


def test_a_real_request_verifies_with_its_key() -> None:
    """The request is from the tests of SendGrid's library."""
    then = datetime.fromtimestamp(int(THEIR_TIME), UTC)
    theirs = SendGridWebhook(THEIR_KEY)
    assert verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then, theirs)
    assert not verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY.strip(), then, theirs)
    assert not verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then)
    [report] = WEBHOOK.reports(THEIR_BODY) or []
    assert report.status == Status.DROPPED | Status.UNREACHABLE


def _kind(value: object) -> str:
    """Return the name of a case whose value differs in each run."""
    return type(value).__name__


def test_any_of_several_keys_may_have_signed() -> None:
    """Both keys are valid while SendGrid's key is replaced."""
    other = ec.generate_private_key(ec.SECP256R1())
    both = SendGridWebhook(f"{public(other)}, {public(KEY)},")
    assert all(verifies(signed(key), webhook=both) for key in (KEY, other))
    assert not verifies(signed(), webhook=SendGridWebhook(public(other)))


def test_without_a_key_no_request_verifies() -> None:
    """The parameter may be empty or have no key."""
    assert not SendGridWebhook("").keys
    assert not verifies(signed(), webhook=SendGridWebhook(" , "))


@pytest.mark.parametrize(
    "text",
    [
        "no base64",
        "AAAA",
        public(KEY)[:-4],
        public(ec.generate_private_key(ec.SECP384R1())),
        public(ec.generate_private_key(ec.SECP256K1())),
        public(ed25519.Ed25519PrivateKey.generate()),
        public(rsa.generate_private_key(65537, 2048)),
        f"{public(KEY)},x",
    ],
    ids=_kind,
)
def test_a_key_of_another_kind_is_rejected(text: str) -> None:
    """No request verifies with it."""
    with pytest.raises(MisconfiguredError):
        _ = SendGridWebhook(text).keys


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(), True),
        (timedelta(hours=25), True),
        (timedelta(hours=25, seconds=1), False),
        (timedelta(minutes=-5), True),
        (timedelta(minutes=-5, seconds=-1), False),
    ],
)
def test_a_request_may_be_25_hours_old_and_five_minutes_ahead(
    age: timedelta, *, expected: bool
) -> None:
    """SendGrid repeats requests for 24 hours."""
    assert verifies(signed(), now=NOW + age) is expected


@pytest.mark.parametrize(
    ("signature", "timestamp", "body"),
    [
        (signed(), AT, BODY + b" "),
        (signed(), AT, b""),
        (signed(), str(int(AT) + 1), BODY),
        (signed(), f"{AT} ", BODY),
        (signed(), f"+{AT}", BODY),
        (signed(), f"0{AT}", BODY),
        (signed(), AT[:-1], AT[-1:].encode() + BODY),  # the same bytes, another time
        (signed(), f"{AT}{BODY[:2].decode()}", BODY[2:]),
        (signed(), "", BODY),
        (signed(), "9" * 400, BODY),
        (signed(), "".join(chr(0x0660 + int(moment)) for moment in AT), BODY),
        ("", AT, BODY),
        ("AAAA", AT, BODY),
        (signed()[:-4], AT, BODY),
        (f"{signed()}AAAA", AT, BODY),
        (f" {signed()}", AT, BODY),
        (signed().replace("M", "é", 1), AT, BODY),
        ("A" * 100_000, AT, BODY),
        (base64.b64encode(bytes.fromhex("3006020100020100")).decode(), AT, BODY),  # zeros
        (base64.b64encode(KEY.sign(AT.encode() + BODY, ec.ECDSA(SHA384()))).decode(), AT, BODY),
    ],
    ids=_kind,
)
def test_any_other_request_does_not_verify(signature: str, timestamp: str, body: bytes) -> None:
    """It may be altered, truncated, forged, or have another hash or time."""
    assert not verifies(signature, timestamp, body)


@given(st.text(max_size=120), st.text(max_size=20), st.binary(max_size=50))
def test_arbitrary_requests_do_not_verify_and_raise_no_error(
    signature: str, timestamp: str, body: bytes
) -> None:
    """Headers can have any text."""
    assert not verifies(signature, timestamp, body)


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ({"event": "delivered"}, Status.DELIVERED),
        ({"event": "bounce", "type": "bounce"}, Status.BOUNCED | Status.UNREACHABLE),
        ({"event": "bounce", "type": "blocked"}, Status.BOUNCED),
        ({"event": "bounce"}, Status.BOUNCED),
        ({"event": "dropped"}, Status.DROPPED),
        ({"event": "dropped", "reason": "Bounced Address"}, Status.DROPPED | Status.UNREACHABLE),
        ({"event": "dropped", "reason": "Invalid"}, Status.DROPPED | Status.UNREACHABLE),
        ({"event": "dropped", "reason": "Unsubscribed Address"}, Status.DROPPED | Status.UNWELCOME),
        (
            {"event": "dropped", "reason": "Spam Reporting Address"},
            Status.DROPPED | Status.UNWELCOME,
        ),
        ({"event": "dropped", "reason": "Spam Content"}, Status.DROPPED),
        ({"event": "dropped", "reason": ["Invalid"]}, Status.DROPPED),
        ({"event": "spamreport"}, Status.COMPLAINED | Status.UNWELCOME),
        ({"event": "unsubscribe"}, Status.UNWELCOME),
        ({"event": "group_unsubscribe"}, Status.UNWELCOME),
        ({"event": "processed"}, Status.NONE),
        ({"event": "group_resubscribe"}, Status.NONE),
        ({"event": "Delivered"}, Status.NONE),
        ({"event": ["delivered"]}, Status.NONE),
        ({"event": None}, Status.NONE),
        ({}, Status.NONE),
    ],
)
def test_each_kind_of_report_has_its_status(event: dict[str, Any], status: Status) -> None:
    """See SendGrid's documentation of event types."""
    expected = [DeliveryReport(status, event, "")] if status else []
    assert WEBHOOK.reports(json.dumps([event]).encode()) == expected


def test_malformed_reports_are_skipped() -> None:
    """Valid reports of the same request count."""
    good = {"event": "delivered"}
    body = [None, 1, "x", [], [good], good, {"event": "?"}, {"event": "delivered", "x": {}}]
    found = WEBHOOK.reports(json.dumps(body).encode())
    assert found is not None
    assert [event.status for event in found] == [Status.DELIVERED, Status.DELIVERED]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"event":"delivered"}',
        b"[" * 500_000,
        b'[{"a":' * 150_000,
        b"[" + b"9" * 900_000 + b"]",
        b"\xff\xfe",
    ],
)
def test_a_body_that_is_not_a_list_has_no_reports(body: bytes) -> None:
    """A body that is deeply nested, or a huge number, holds no events."""
    assert WEBHOOK.reports(body) is None


def test_of_two_fields_of_one_name_the_last_counts() -> None:
    """Of two fields of one name the last one counts, as everywhere here."""
    assert WEBHOOK.reports(b'[{"event":"dropped","event":"delivered"}]') == [
        DeliveryReport(Status.DELIVERED, {"event": "delivered"}, "")
    ]
