"""SendGrid's signed Event Webhook: who has signed a request, and what it tells (design 3)."""

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

from functions.mail.fate import NOTHING_YET, Fate
from functions.mail.sendgrid_events import EventKeys, UnusableKeyError, told
from functions.mail.told import Told

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


KEYS: Final = EventKeys(public(KEY))


def test_the_vector_of_sendgrids_own_library() -> None:
    """A real request, with a real key."""
    then = datetime.fromtimestamp(int(THEIR_TIME), UTC)
    keys = EventKeys(THEIR_KEY)
    assert keys.verify(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then)
    assert not keys.verify(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY.strip(), then)
    assert not KEYS.verify(THEIR_SIGNATURE, THEIR_TIME, THEIR_BODY, then)
    [one] = told(THEIR_BODY) or []
    assert one.fate == Fate.DROPPED | Fate.UNREACHABLE


@pytest.mark.parametrize("body", [BODY, "[“é”]".encode(), b""])
def test_sendgrids_own_library_says_the_same(body: bytes) -> None:
    """Its verdict on what is signed here."""
    theirs = EventWebhook(public(KEY))
    for one in (body, body + b" "):
        text = one.decode()
        assert theirs.verify_signature(text, signed(body=body), AT) == KEYS.verify(
            signed(body=body), AT, one, NOW
        )


def test_any_of_several_keys_may_have_signed() -> None:
    """While SendGrid's key is replaced, both are given."""
    other = ec.generate_private_key(ec.SECP256R1())
    both = EventKeys(f"{public(other)}, {public(KEY)},")
    assert all(both.verify(signed(key), AT, BODY, NOW) for key in (KEY, other))
    assert not EventKeys(public(other)).verify(signed(), AT, BODY, NOW)


def test_without_a_key_nothing_verifies() -> None:
    """An empty parameter."""
    assert not EventKeys("")
    assert not EventKeys(" , ").verify(signed(), AT, BODY, NOW)


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
)
def test_a_key_of_another_kind_is_none(text: str) -> None:
    """Whoever configures it is told, and nothing is let in with it."""
    with pytest.raises(UnusableKeyError):
        EventKeys(text)


@pytest.mark.parametrize(
    ("age", "verifies"),
    [
        (timedelta(), True),
        (timedelta(hours=25), True),
        (timedelta(hours=25, seconds=1), False),
        (timedelta(minutes=-5), True),
        (timedelta(minutes=-5, seconds=-1), False),
    ],
)
def test_a_request_is_good_for_a_day_of_repetitions(age: timedelta, *, verifies: bool) -> None:
    """SendGrid repeats for 24 hours; ahead of our clock a request is five minutes at most."""
    assert KEYS.verify(signed(), AT, BODY, NOW + age) is verifies


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
        (signed(), f"{AT}.0", BODY),
        (signed(), "", BODY),
        (signed(), "now", BODY),
        (signed(), "9" * 400, BODY),
        (signed(), "".join(chr(0x0660 + int(one)) for one in AT), BODY),
        ("", AT, BODY),
        ("AAAA", AT, BODY),
        ("=", AT, BODY),
        (signed()[:-4], AT, BODY),
        (f"{signed()}AAAA", AT, BODY),
        (f" {signed()}", AT, BODY),
        (signed().replace("M", "é", 1), AT, BODY),
        ("A" * 100_000, AT, BODY),
        (base64.b64encode(bytes.fromhex("3006020100020100")).decode(), AT, BODY),  # zeros
        (
            base64.b64encode(KEY.sign(AT.encode() + BODY, ec.ECDSA(SHA384()))).decode(),
            AT,
            BODY,
        ),
    ],
)
def test_anything_else_does_not_verify(signature: str, timestamp: str, body: bytes) -> None:
    """Altered, cut, forged, of another hash, of another time."""
    assert not KEYS.verify(signature, timestamp, body, NOW)


@given(st.text(max_size=120), st.text(max_size=20), st.binary(max_size=50))
def test_nothing_made_up_verifies_or_breaks(signature: str, timestamp: str, body: bytes) -> None:
    """Whatever stands in the headers."""
    assert not KEYS.verify(signature, timestamp, body, NOW)


@pytest.mark.parametrize(
    ("event", "fate"),
    [
        ({"event": "delivered"}, Fate.DELIVERED),
        ({"event": "bounce", "type": "bounce"}, Fate.BOUNCED | Fate.UNREACHABLE),
        ({"event": "bounce", "type": "blocked"}, Fate.BOUNCED),
        ({"event": "bounce"}, Fate.BOUNCED),
        ({"event": "dropped"}, Fate.DROPPED),
        ({"event": "dropped", "reason": "Bounced Address"}, Fate.DROPPED | Fate.UNREACHABLE),
        ({"event": "dropped", "reason": "Invalid"}, Fate.DROPPED | Fate.UNREACHABLE),
        ({"event": "dropped", "reason": "Unsubscribed Address"}, Fate.DROPPED | Fate.UNWELCOME),
        ({"event": "dropped", "reason": "Spam Reporting Address"}, Fate.DROPPED | Fate.UNWELCOME),
        ({"event": "dropped", "reason": "Spam Content"}, Fate.DROPPED),
        ({"event": "dropped", "reason": ["Invalid"]}, Fate.DROPPED),
        ({"event": "spamreport"}, Fate.COMPLAINED | Fate.UNWELCOME),
        ({"event": "unsubscribe"}, Fate.UNWELCOME),
        ({"event": "group_unsubscribe"}, Fate.UNWELCOME),
        ({"event": "processed"}, NOTHING_YET),
        ({"event": "deferred"}, NOTHING_YET),
        ({"event": "open"}, NOTHING_YET),
        ({"event": "group_resubscribe"}, NOTHING_YET),
        ({"event": "Delivered"}, NOTHING_YET),
        ({"event": ["delivered"]}, NOTHING_YET),
        ({"event": {}}, NOTHING_YET),
        ({"event": None}, NOTHING_YET),
        ({}, NOTHING_YET),
    ],
)
def test_what_an_event_tells(event: dict[str, Any], fate: Fate) -> None:
    """SendGrid's event types, and what their fields add."""
    expected = [Told(fate, event)] if fate else []
    assert told(json.dumps([event]).encode()) == expected


def test_rubbish_among_events_is_left_out() -> None:
    """The good ones are not held up by it."""
    good = {"event": "delivered"}
    body = [None, 1, "x", [], [good], good, {"event": "?"}, {"event": "delivered", "x": {}}]
    found = told(json.dumps(body).encode())
    assert found is not None
    assert [one.fate for one in found] == [Fate.DELIVERED, Fate.DELIVERED]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x",
        b"{}",
        b'{"event":"delivered"}',
        b"null",
        b"[" * 500_000,
        b'[{"a":' * 150_000,
        b"[" + b"9" * 900_000 + b"]",
        b"\xff\xfe",
        b"\x1f\x8b\x08\x00",
    ],
)
def test_a_body_that_is_no_list_of_events_tells_nothing(body: bytes) -> None:
    """Also where it is nested without end, a number without end, or compressed."""
    assert told(body) is None


def test_of_two_fields_of_one_name_the_last_counts() -> None:
    """As JSON is read everywhere here; nothing is counted twice."""
    assert told(b'[{"event":"dropped","event":"delivered"}]') == [
        Told(Fate.DELIVERED, {"event": "delivered"})
    ]
