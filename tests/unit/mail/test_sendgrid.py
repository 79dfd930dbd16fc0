"""The outcomes of SendGrid's answers, over HTTP with a local mailbox (design 5)."""

import json
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from emulator.mailbox import (
    Fault,
    Mailbox,
    bad_address,
    credits_exceeded,
    drop,
    status,
    too_many_requests,
    unverified_sender,
    wrong_key,
)
from functions.mail.message import Copy, EmailMessage
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Cause,
    Later,
    MisconfiguredError,
    Refused,
    Unknown,
)
from functions.mail.sendgrid import SendGridMailer, refusal, request_body
from functions.ports import Clock
from tests.in_memory.adapters import InMemorySecrets

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CLOCK = Clock(lambda: datetime.now(UTC), lambda: 0.0, lambda _: None)
SECRETS = InMemorySecrets({"SENDGRID_API_KEY": ("SG.x",)})


def mailer(url: str) -> SendGridMailer:
    """Return a client of the email provider at `url`."""
    return SendGridMailer(SECRETS, url, CLOCK)


def _message(*addresses: str, sender: str = "Wall <photos@example.com>") -> EmailMessage:
    return EmailMessage(
        sender=sender,
        subject="Photos",
        text="Hi %n%",
        html="<p>Hi %n%</p>",
        copies=[
            Copy(address=address, headers={"X-Of": address}, values={"%n%": address})
            for address in addresses
        ],
    )


@pytest.fixture(scope="module")
def running() -> Iterator[Mailbox]:
    """Run one mailbox for all tests."""
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture
def mailbox(running: Mailbox) -> Mailbox:
    """Return the mailbox without emails and faults."""
    running.heal()
    running.forget()
    return running


def test_202_is_accepted(mailbox: Mailbox) -> None:
    """The outcome has the ID of the request in SendGrid's log."""
    outcome = mailer(mailbox.url).send(_message("a@example.com"))
    (mail,) = mailbox.emails
    assert outcome == Accepted(mail.message_id)
    assert (mail.to, mail.text) == ("a@example.com", "Hi a@example.com")


@pytest.mark.parametrize(
    ("fault", "expected", "mails"),
    [
        (status(400), Refused("HTTP 400"), 0),
        (status(413), Refused("HTTP 413"), 0),
        (status(403), Refused("HTTP 403", Cause.KEY), 0),
        (wrong_key(), Refused("HTTP 401", Cause.KEY), 0),
        (unverified_sender(), Refused("HTTP 403", Cause.SENDER), 0),
        (credits_exceeded(), Refused("HTTP 401", Cause.CREDITS), 0),
        (status(500), Later("HTTP 500", None), 0),
        (status(200), Unknown("HTTP 200"), 0),
        (status(503), Later("HTTP 503", None), 0),
        (too_many_requests(0), Later("HTTP 429", 0), 0),
        (drop(), Unknown("RemoteDisconnected"), 2),
        (bad_address("b@example.com"), BadAddresses(frozenset({1})), 0),
    ],
    ids=lambda value: None if isinstance(value, Fault) else str(value),
)
def test_each_fault_has_a_certain_or_an_unknown_outcome(
    mailbox: Mailbox, fault: Fault, expected: object, mails: int
) -> None:
    """SendGrid has no idempotency key, so an unknown request must not be repeated."""
    mailbox.fail_with(fault)
    outcome = mailer(mailbox.url).send(_message("a@example.com", "b@example.com"))
    assert outcome == expected
    assert len(mailbox.emails) == mails


@pytest.mark.parametrize(
    ("status", "message", "field", "cause"),
    [
        (400, "The from email does not contain a valid address.", "from.email", Cause.SENDER),
        (403, "Maximum credits exceeded", None, Cause.CREDITS),
        (429, "Maximum credits exceeded", None, Cause.CREDITS),
        (451, "You've exceeded your messaging limits", None, Cause.CREDITS),
        (401, "Permission denied, wrong credentials", None, Cause.KEY),
        (401, "Authenticated user is not authorized to send mail", None, Cause.KEY),
        (403, "access forbidden", None, Cause.KEY),
        (413, "too large", None, None),
        (400, "The subject is required.", "subject", None),
    ],
)
def test_a_refusal_has_a_cause(
    status: int, message: str, field: str | None, cause: Cause | None
) -> None:
    """Keep only the cause. Do not wait for a plan without credits."""
    body = json.dumps({"errors": [{"message": message, "field": field, "help": None}]}).encode()
    assert refusal(status, {}, body, now=NOW) == Refused(f"HTTP {status}", cause)


def test_a_pause_has_the_cause_busy() -> None:
    """The caller tries again."""
    assert Later("HTTP 429", None).cause is Cause.BUSY


@pytest.mark.parametrize("key", ["", "SG.a b", "SG.a\nb", "SG.\u00e9", "SG.a\0"])
def test_a_key_that_is_invalid_in_a_header_fails_before_the_request(key: str) -> None:
    """A failure during the request would count as sent."""
    secrets = InMemorySecrets({"SENDGRID_API_KEY": (key,)})
    unusable = SendGridMailer(secrets, "https://example.com", CLOCK)
    with pytest.raises(MisconfiguredError) as wrong:
        unusable.check()
    assert unusable.send(_message("a@example.com")) == Refused(str(wrong.value), Cause.KEY)
    assert wrong.value.setting == "SENDGRID_API_KEY"
    assert not key or key not in str(wrong.value)


OTHER_BODIES = [b"", b"<html>", b"[]", b"{}", b'{"errors": {}}', b'{"errors": []}', b"\xff"]
"""Bodies without SendGrid's list of errors."""


@pytest.mark.parametrize("body", OTHER_BODIES)
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, Refused("HTTP 400")),
        (401, Refused("HTTP 401", Cause.KEY)),
        (403, Refused("HTTP 403", Cause.SENDER)),
        (404, Refused("HTTP 404")),
        (407, Refused("HTTP 407")),
        (413, Refused("HTTP 413")),
        (429, Later("HTTP 429", 7.0)),
        (451, Refused("HTTP 451")),
        (500, Unknown("HTTP 500")),
        (503, Unknown("HTTP 503")),
        (302, Unknown("HTTP 302")),
    ],
)
def test_a_4xx_of_any_server_refuses_the_request(
    status: int, expected: object, body: bytes
) -> None:
    """This includes a proxy. After its 5xx, the outcome at SendGrid is unknown."""
    assert refusal(status, {"Retry-After": "7"}, body, now=NOW) == expected


def test_a_connection_that_breaks_under_a_request_is_unknown() -> None:
    """The whole request may have arrived."""

    def break_off() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(1000)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=break_off)
        thread.start()
        addresses = [f"{number:0100}@example.com" for number in range(50_000)]
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert isinstance(mailer(address).send(_message(*addresses)), Unknown)
        thread.join()


def test_a_refused_connection_is_certain() -> None:
    """No byte was sent."""
    with Mailbox() as gone:
        url = gone.url
    outcome = mailer(url).send(_message("a@example.com"))
    assert outcome == Later("not connected: ConnectionRefusedError", None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7", "X-RateLimit-Reset": "0"}, 7.0),
        ({"Retry-After": "soon", "X-RateLimit-Reset": str(NOW.timestamp() + 3)}, 3.0),
        ({"Retry-After": "-1"}, 0.0),
        ({"Retry-After": "nan"}, 0.0),
        ({"X-RateLimit-Reset": "0"}, 0.0),
        ({}, None),
    ],
)
def test_the_pause_is_that_of_the_answer(headers: dict[str, str], seconds: float | None) -> None:
    """`Retry-After` precedes `X-RateLimit-Reset`. Invalid numbers are ignored."""
    body = b'{"errors": [{"message": "no", "field": null}]}'
    assert refusal(503, headers, body, now=NOW) == Later("HTTP 503", seconds)


def test_a_message_is_one_request_with_a_personalization_for_each_copy() -> None:
    """Tracking and footers are off."""
    assert request_body(_message("a@example.com", "b@example.com")) == {
        "from": {"email": "photos@example.com", "name": "Wall"},
        "subject": "Photos",
        "content": [
            {"type": "text/plain", "value": "Hi %n%"},
            {"type": "text/html", "value": "<p>Hi %n%</p>"},
        ],
        "personalizations": [
            {
                "to": [{"email": address}],
                "headers": {"X-Of": address},
                "substitutions": {"%n%": address},
            }
            for address in ("a@example.com", "b@example.com")
        ],
        "tracking_settings": {
            "click_tracking": {"enable": False, "enable_text": False},
            "open_tracking": {"enable": False},
            "subscription_tracking": {"enable": False},
        },
    }
    bare = request_body(_message(sender="photos@example.com"))
    assert bare["from"] == {"email": "photos@example.com"}


def test_the_request_has_the_reply_to_of_the_message(mailbox: Mailbox) -> None:
    """Without it, replies go to the sender."""
    message = replace(_message("a@example.com"), reply_to="Team <hello@example.com>")
    assert isinstance(mailer(mailbox.url).send(message), Accepted)
    (request,) = mailbox.requests
    assert json.loads(request.body)["reply_to"] == {"email": "hello@example.com", "name": "Team"}
