"""The mailbox sends delivery reports like SendGrid."""

import time
from datetime import UTC, datetime

import pytest
from sendgrid.helpers.eventwebhook import EventWebhook as SendGridsOwn

from emulator import certificates
from emulator.mailbox import Email, signature_headers
from emulator.mailbox.event_webhook import SIGNATURE, TIMESTAMP, reports_of


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("ann", ["processed", "delivered"]),
        ("bounced", ["processed", "bounce"]),
        ("bounced-2", ["processed", "bounce"]),
        ("blocked", ["processed", "bounce"]),
        ("dropped", ["dropped"]),
        ("deferred", ["processed", "deferred", "delivered"]),
        ("complained", ["processed", "delivered", "spamreport"]),
        ("unsubscribed", ["processed", "delivered", "unsubscribe"]),
        ("bouncedown", ["processed", "delivered"]),
    ],
)
def test_the_address_determines_the_reports(name: str, reports: list[str]) -> None:
    """Add the labels of the email to each report."""
    address, now = f"{name}@example.com", datetime.now(UTC)
    labels = {"custom_args": {"of": address}}
    found = list(reports_of(Email(1, now, "id", address, "a@b.example", "", "", "", {}, labels)))
    assert [item["event"] for item in found] == reports
    assert {(record["email"], record["of"]) for record in found} == {(address, address)}
    types = [record["type"] for record in found if record["event"] == "bounce"]
    assert types == (["blocked"] if name == "blocked" else ["bounce"] * len(types))


def test_reports_are_signed_as_sendgrid_signs_them() -> None:
    """Verify the signature with SendGrid's library, which rejects another body."""
    headers = signature_headers(certificates.mailbox_key(), b"[]", int(time.time()))
    judge = SendGridsOwn(certificates.MAILBOX_PUBLIC.read_text())
    signature, at = headers[SIGNATURE], headers[TIMESTAMP]
    assert judge.verify_signature("[]", signature, at)
    assert not judge.verify_signature("[] ", signature, at)


def test_the_key_is_created_once() -> None:
    """Return the same key again. Other users cannot read it."""
    first, second = certificates.mailbox_key(), certificates.mailbox_key()
    assert first.private_numbers() == second.private_numbers()
    assert certificates.MAILBOX_KEY.stat().st_mode & 0o077 == 0
