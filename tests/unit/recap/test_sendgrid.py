"""What the answers of SendGrid mean, over HTTP against its stand-in (design 5)."""

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.mailbox import (
    Fault,
    Mailbox,
    bad_address,
    drop,
    status,
    too_many_requests,
)
from functions.recap.mail.outcome import Accepted, BadAddresses, Later, Refused, Unknown
from functions.recap.mail.sendgrid import SendGridMailer


def _body(*addresses: str, **changed: Any) -> dict[str, Any]:
    people = [{"to": [{"email": one}], "substitutions": {"%n%": one}} for one in addresses]
    return {
        "from": {"email": "photos@example.com"},
        "subject": "Photos",
        "content": [{"type": "text/plain", "value": "Hi %n%"}],
        "personalizations": people,
    } | changed


@pytest.fixture(scope="module")
def running() -> Iterator[Mailbox]:
    """One stand-in for all tests."""
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture
def mailbox(running: Mailbox) -> Mailbox:
    """The stand-in, as if it were new."""
    running.heal()
    running.forget()
    return running


def test_202_is_accepted(mailbox: Mailbox) -> None:
    """With the id that SendGrid's own log knows the request by."""
    outcome = SendGridMailer("SG.x", mailbox.url).send(_body("a@example.com"))
    (mail,) = mailbox.mails
    assert outcome == Accepted(mail.message_id)
    assert (mail.to, mail.text) == ("a@example.com", "Hi a@example.com")


@pytest.mark.parametrize(
    ("fault", "expected", "mails"),
    [
        (status(400), Refused("HTTP 400"), 0),
        (status(401), Refused("HTTP 401"), 0),
        (status(413), Refused("HTTP 413"), 0),
        (status(500), Refused("HTTP 500"), 0),
        (status(502), Unknown("HTTP 502"), 0),
        (status(504), Unknown("HTTP 504"), 0),
        (status(200), Unknown("HTTP 200"), 0),
        (status(503), Later("HTTP 503", None), 0),
        (too_many_requests(0), Later("HTTP 429", 0), 0),
        (drop(), Unknown("RemoteDisconnected"), 2),
        (bad_address("b@example.com"), BadAddresses(frozenset({1})), 0),
    ],
    ids=str,
)
def test_only_what_is_certain_may_be_sent_again(
    mailbox: Mailbox, fault: Fault, expected: object, mails: int
) -> None:
    """There is no idempotency key: an outcome is known to be none, or unknown."""
    mailbox.fail_with(fault)
    outcome = SendGridMailer("SG.x", mailbox.url).send(_body("a@example.com", "b@example.com"))
    assert outcome == expected
    assert len(mailbox.mails) == mails


def test_a_refused_connection_is_certain() -> None:
    """Nothing has left."""
    with Mailbox() as gone:
        url = gone.url
    outcome = SendGridMailer("SG.x", url).send(_body("a@example.com"))
    assert outcome == Later("not connected: ConnectionRefusedError", None)


def test_the_end_of_the_rate_limit_is_told(mailbox: Mailbox) -> None:
    """`X-RateLimit-Reset` is a time."""
    mailbox.fail_with(too_many_requests(1000))
    outcome = SendGridMailer("SG.x", mailbox.url).send(_body("a@example.com"))
    assert isinstance(outcome, Later)
    assert outcome.seconds is not None
    assert 900 < outcome.seconds <= 1000
