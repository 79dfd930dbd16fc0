"""SendGrid's signed Event Webhook: who has signed a request, and what it tells (design 3.60)."""

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
from sendgrid.helpers.eventwebhook import EventWebhook

from functions.mail.mail_status import DeliveryStatus as Status
from functions.mail.mail_status import TrackingEvent
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

# As SendGrid's own library has it in its tests:
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
    """The public half, as SendGrid shows it."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def signed(key: ec.EllipticCurvePrivateKey = KEY, at: str = AT, body: bytes = BODY) -> str:
    """As SendGrid signs."""
    return base64.b64encode(key.sign(at.encode() + body, ec.ECDSA(SHA256()))).decode()


WEBHOOK: Final = SendGridWebhook(public(KEY))


def verifies(
    signature: str,
    timestamp: str = AT,
    body: bytes = BODY,
    now: datetime = NOW,
    webhook: SendGridWebhook = WEBHOOK,
) -> bool:
    """Whether the webhook takes a request with these headers for SendGrid's."""
    found = webhook.signature({SIGNATURE_HEADER: signature, TIMESTAMP_HEADER: timestamp}, now)
    return found is not None and webhook.is_genuine(found, body)


def test_the_vector_of_sendgrids_own_library() -> None:
    """A real request verifies with its real key."""
    then = datetime.fromtimestamp(int(THEIR_TIME), UTC)
    theirs = SendGridWebhook(THEIR_KEY)
    assert verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then, theirs)
    assert not verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY.strip(), then, theirs)
    assert not verifies(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then)
    [event] = WEBHOOK.events(THEIR_BODY) or []
    assert event.status == Status.DROPPED | Status.UNREACHABLE


def _kind(value: object) -> str:
    """The name of a case whose value is another one in each run."""
    return type(value).__name__


@pytest.mark.parametrize("body", [BODY, "[“é”]".encode(), b""])
def test_sendgrids_own_library_says_the_same(body: bytes) -> None:
    """SendGrid's library verifies a request that is signed here."""
    theirs = EventWebhook(public(KEY))
    signature = signed(body=body)
    for sent in (body, body + b" "):
        expected = theirs.verify_signature(sent.decode(), signature, AT)
        assert verifies(signature, body=sent) == expected


def test_any_of_several_keys_may_have_signed() -> None:
    """While SendGrid's key is replaced, requests of both keys verify."""
    other = ec.generate_private_key(ec.SECP256R1())
    both = SendGridWebhook(f"{public(other)}, {public(KEY)},")
    assert all(verifies(signed(key), webhook=both) for key in (KEY, other))
    assert not verifies(signed(), webhook=SendGridWebhook(public(other)))


def test_without_a_key_nothing_verifies() -> None:
    """With an empty parameter no request verifies."""
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
def test_a_key_of_another_kind_is_none(text: str) -> None:
    """An unusable key is logged, and no request passes with it."""
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
def test_a_request_is_good_for_a_day_of_repetitions(age: timedelta, *, expected: bool) -> None:
    """SendGrid repeats for 24 hours; ahead of our clock a request is five minutes at most."""
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
def test_anything_else_does_not_verify(signature: str, timestamp: str, body: bytes) -> None:
    """A request that is altered, cut, forged, or of another hash or time does not verify."""
    assert not verifies(signature, timestamp, body)


@given(st.text(max_size=120), st.text(max_size=20), st.binary(max_size=50))
def test_nothing_made_up_verifies_or_breaks(signature: str, timestamp: str, body: bytes) -> None:
    """Headers with any text neither verify nor break anything."""
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
def test_what_an_event_tells(event: dict[str, Any], status: Status) -> None:
    """Each of SendGrid's event types gives the status that its fields say."""
    expected = [TrackingEvent(status, event, "")] if status else []
    assert WEBHOOK.events(json.dumps([event]).encode()) == expected


def test_rubbish_among_events_is_left_out() -> None:
    """Malformed events hold up no valid ones."""
    good = {"event": "delivered"}
    body = [None, 1, "x", [], [good], good, {"event": "?"}, {"event": "delivered", "x": {}}]
    found = WEBHOOK.events(json.dumps(body).encode())
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
def test_a_body_that_is_no_list_of_events_tells_nothing(body: bytes) -> None:
    """A body that is deeply nested, or a huge number, holds no events."""
    assert WEBHOOK.events(body) is None


def test_of_two_fields_of_one_name_the_last_counts() -> None:
    """Of two fields of one name the last one counts, as everywhere here."""
    assert WEBHOOK.events(b'[{"event":"dropped","event":"delivered"}]') == [
        TrackingEvent(Status.DELIVERED, {"event": "delivered"}, "")
    ]
