"""The mailbox tells what becomes of mails as SendGrid does, and its addresses decide what."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import requests
from sendgrid.helpers.eventwebhook import EventWebhook as SendGridsOwn

from emulator import certificates
from emulator.mailbox import EventWebhook, Mailbox
from emulator.server import LocalServer, StandIn

# Seconds.
LIMIT = 20.0


class TrackingEvent(StandIn):
    """Records reports; the first request is refused."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], str]] = []
        told, first = self, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Print nothing."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                told.requests.append((dict(self.headers), body))
                self.send_response(200 if first.is_set() else 503)
                first.set()
                self.send_header("Content-Length", "0")
                self.end_headers()

        super().__init__(LocalServer(0, Handler))


@pytest.fixture
def told() -> Iterator[TrackingEvent]:
    """What the mailbox tells it to."""
    with TrackingEvent() as running:
        yield running


def events_for(told: TrackingEvent, *addresses: str) -> list[dict[str, Any]]:
    """The reports of a mail to each of the addresses, once a request was accepted."""
    webhook = EventWebhook(f"http://127.0.0.1:{told.port}/", certificates.mailbox_key())
    with Mailbox(events=webhook) as mailbox:
        answer = requests.post(
            f"{mailbox.url}/v3/mail/send",
            json={
                "from": {"email": "photos@example.com"},
                "subject": "Photos",
                "content": [{"type": "text/plain", "value": "Hi"}],
                "personalizations": [
                    {"to": [{"email": address}], "custom_args": {"of": address}}
                    for address in addresses
                ],
            },
            headers={"Authorization": "Bearer SG.x"},
            timeout=LIMIT,
        )
        assert answer.status_code == 202
        webhook.wait_until_told(LIMIT)
        assert webhook.statuses == [503, 200]
    found: list[dict[str, Any]] = json.loads(told.requests[-1][1])
    return found


@pytest.mark.parametrize(
    ("name", "story"),
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
def test_an_address_decides(told: TrackingEvent, name: str, story: list[str]) -> None:
    """The address of a mail decides its reports, which carry the labels of the mail."""
    address = f"{name}@example.com"
    found = events_for(told, address)
    assert [item["event"] for item in found] == story
    assert {(record["email"], record["of"]) for record in found} == {(address, address)}
    types = [record["type"] for record in found if record["event"] == "bounce"]
    assert types == (["blocked"] if name == "blocked" else ["bounce"] * len(types))


def test_a_request_that_is_not_answered_well_comes_again_signed(told: TrackingEvent) -> None:
    """A refused request comes again with the same events, and a signature that verifies."""
    events_for(told, "ann@example.com", "bob@example.com")
    judge = SendGridsOwn(certificates.MAILBOX_PUBLIC.read_text())
    assert len({body for _, body in told.requests}) == 1
    for headers, body in told.requests:
        given = {name.lower(): value for name, value in headers.items()}
        signature = given["x-twilio-email-event-webhook-signature"]
        at = given["x-twilio-email-event-webhook-timestamp"]
        assert judge.verify_signature(body, signature, at)
        assert not judge.verify_signature(body + " ", signature, at)


def test_a_key_is_made_once() -> None:
    """A second request gets the same key, and no other user can read it."""
    first, second = certificates.mailbox_key(), certificates.mailbox_key()
    assert first.private_numbers() == second.private_numbers()
    assert certificates.MAILBOX_KEY.stat().st_mode & 0o077 == 0
