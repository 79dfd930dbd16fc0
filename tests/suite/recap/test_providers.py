"""Recaps through each email provider: SendGrid's API and a mail server (spec 4.10)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from emulator import certificates, mailbox
from emulator.accounts import Account
from emulator.mailbox import Mailbox
from emulator.mailbox.smtp_server import SmtpFault, SmtpServer
from emulator.port_numbers import SMTP_PORT, SMTP_URL
from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import Wall, guest
from tools import local_secrets

BAD: Final = guest(1)

_SENDGRID: Final[Mapping[str, mailbox.Fault]] = {
    "bad address": mailbox.bad_address(BAD),
    "busy": mailbox.too_many_requests(),
    "slow": mailbox.slow(0.5, times=2),
    "lost reply": mailbox.drop(),
    "wrong key": mailbox.wrong_key(),
}
_SMTP: Final[Mapping[str, SmtpFault]] = {
    "bad address": SmtpFault("rcpt", "550 5.1.1 No such user", address=BAD),
    "busy": SmtpFault("mail", "421 4.7.0 Too many connections"),
    "slow": SmtpFault("message", "250 OK", seconds=0.5, times=2),
    "lost reply": SmtpFault("message"),
    "wrong key": SmtpFault("auth", "535 5.7.8 Wrong password", times=0),
}


@dataclass(frozen=True)
class Provider:
    """One email provider, and the function that sends through it."""

    name: str
    emails: Mailbox
    fail: Callable[[str], None]
    recap: Callable[..., Answer]


@contextmanager
def _smtp_server(inbox: Mailbox, certificate: Path = certificates.SERVER) -> Iterator[SmtpServer]:
    password = local_secrets.read()["SMTP_PASSWORD"]
    with SmtpServer(inbox, password, port=SMTP_PORT, certificate=certificate) as server:
        yield server


@pytest.fixture(scope="module")
def smtp_function() -> Iterator[FunctionProcess]:
    """Start `sendEventRecap` with the local mail server."""
    with FunctionProcess("sendEventRecap", MAIL_URL=SMTP_URL) as process:
        yield process


@pytest.fixture
def smtp_recap(
    wall: Wall, organizer: Account, smtp_function: FunctionProcess
) -> Callable[..., Answer]:
    """Call that function for the event, as its organizer."""

    def send(**arguments: Any) -> Answer:
        data, at = {"eventId": wall.id, **arguments}, f"http://127.0.0.1:{smtp_function.port}/"
        return call("", data, id_token=organizer.id_token, at=at)

    return send


@pytest.fixture
def server(mailbox: Mailbox) -> Iterator[SmtpServer]:
    """Start the local mail server, whose emails arrive in the mailbox."""
    with _smtp_server(mailbox) as running:
        yield running


@pytest.fixture(params=["sendgrid", "smtp"])
def provider(
    request: pytest.FixtureRequest, mailbox: Mailbox, recap: Callable[..., Answer]
) -> Provider:
    """Return each provider in turn."""
    if request.param == "sendgrid":
        return Provider("sendgrid", mailbox, lambda name: mailbox.fail_with(_SENDGRID[name]), recap)
    server: SmtpServer = request.getfixturevalue("server")
    send = request.getfixturevalue("smtp_recap")
    return Provider("smtp", mailbox, lambda name: server.fail_with(_SMTP[name]), send)


def test_200_guests_each_have_one_email(wall: Wall, provider: Provider) -> None:
    """Each email is complete, and a second call is in the cooldown."""
    wall.guests(200)
    assert provider.recap(message="Thank you!").result == {"sent": 200, "skipped": 0}
    emails = provider.emails.emails
    assert sorted(email.to for email in emails) == sorted(guest(n) for n in range(200))
    for email in emails:
        headers = {name.lower(): value for name, value in email.headers.items()}
        assert headers["list-unsubscribe"].startswith("<http://127.0.0.1:5000/unsubscribe?token=")
        assert headers["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
        assert headers["content-language"] == "en"
        assert "Thank you!" in email.text
        assert "Thank you!" in email.html
        assert email.text.count("/preferences#token=") == 1
    (recap,) = wall.recaps()
    assert (recap["state"], recap["sent"], recap["unknown"], recap["left"]) == ("sent", 200, 0, 0)
    assert ("mailServer" in recap) == (provider.name == "smtp")
    assert provider.recap().error[0] == "RESOURCE_EXHAUSTED"


def test_refused_address_counts_as_skipped(wall: Wall, provider: Provider) -> None:
    """All other guests have the email."""
    wall.guests(30)
    provider.fail("bad address")
    assert provider.recap().result == {"sent": 29, "skipped": 1}
    assert sorted(email.to for email in provider.emails.emails) == sorted(
        guest(n) for n in range(30) if guest(n) != BAD
    )


@pytest.mark.parametrize("fault", ["busy", "slow"])
def test_busy_or_slow_provider_gets_each_email_once(
    wall: Wall, provider: Provider, fault: str
) -> None:
    """The call waits."""
    wall.guests(15)
    provider.fail(fault)
    assert provider.recap().result == {"sent": 15, "skipped": 0}
    assert len({email.to for email in provider.emails.emails}) == 15
    assert len(provider.emails.emails) == 15


def test_lost_reply_is_unconfirmed_until_it_is_resent(wall: Wall, provider: Provider) -> None:
    """No call repeats the email by itself."""
    wall.guests(3)
    provider.fail("lost reply")
    lost = provider.recap()
    assert lost.error[0] == "INTERNAL"
    unconfirmed = lost.body["error"]["details"]["unconfirmed"]
    assert unconfirmed == (3 if provider.name == "sendgrid" else 1)
    wall.end_lease()
    if provider.name == "smtp":  # the emails after the lost one were not tried
        assert provider.recap().result["sent"] == 2
    assert sorted(email.to for email in provider.emails.emails) == [guest(n) for n in range(3)]
    again = provider.recap(resendUnconfirmed=True)
    assert again.result == {"sent": unconfirmed, "skipped": 0}


def test_wrong_key_is_named(wall: Wall, provider: Provider) -> None:
    """Nothing is sent, and the next call continues."""
    wall.guests(3)
    provider.fail("wrong key")
    error, message = provider.recap().error
    secret = {"sendgrid": "SENDGRID_API_KEY", "smtp": "SMTP_PASSWORD"}[provider.name]
    assert error == "INTERNAL"
    assert secret in message
    assert provider.emails.emails == ()


def test_mail_server_that_defers_one_guest(
    wall: Wall, server: SmtpServer, mailbox: Mailbox, smtp_recap: Callable[..., Answer]
) -> None:
    """A 450 is tried again with pauses, and other guests do not wait for it."""
    wall.guests(13)
    server.fail_with(SmtpFault("rcpt", "450 4.2.0 Busy", address=BAD, times=2))
    assert smtp_recap().result == {"sent": 13, "skipped": 0}
    assert mailbox.emails[-1].to == BAD
    assert len(mailbox.emails) == 13


def test_connection_that_breaks_before_the_dot(
    wall: Wall, server: SmtpServer, mailbox: Mailbox, smtp_recap: Callable[..., Answer]
) -> None:
    """The email was not accepted, so it is sent over another connection."""
    wall.guests(5)
    server.fail_with(SmtpFault("data", after=2))
    assert smtp_recap().result == {"sent": 5, "skipped": 0}
    assert sorted(email.to for email in mailbox.emails) == [guest(n) for n in range(5)]


def test_wrong_certificate_gets_no_password(
    wall: Wall, mailbox: Mailbox, smtp_recap: Callable[..., Answer], smtp_function: FunctionProcess
) -> None:
    """Nothing is sent, and the log has neither the password nor the user."""
    wall.guests(2)
    with _smtp_server(mailbox, certificates.issue(["other.example"])) as server:
        assert smtp_recap().error[0] == "INTERNAL"
        assert set(server.commands) == {"connect"}
    assert mailbox.emails == ()
    assert [batch["note"] for batch in wall.batches()] == [
        "not connected: SSLCertVerificationError"
    ]
    printed = "".join(smtp_function.output)
    assert local_secrets.read()["SMTP_PASSWORD"] not in printed
