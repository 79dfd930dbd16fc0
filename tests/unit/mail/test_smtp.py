"""Emails by SMTP, against a real mail server with TLS and sign-in (spec 4.10)."""

import smtplib
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from email import message_from_bytes, policy
from typing import Any

import pytest

from emulator import certificates
from emulator.mailbox.inbox import Inbox
from emulator.mailbox.smtp_server import SmtpFault, SmtpServer, Stage
from functions.mail.message import GUEST_LABEL, RECAP_LABEL, Copy, EmailMessage
from functions.mail.outcome import (
    Accepted,
    BadAddresses,
    Cause,
    Later,
    MisconfiguredError,
    PartlyAccepted,
    Refused,
    SendOutcome,
    Unknown,
)
from functions.mail.smtp import (
    KEPT_SECONDS,
    MailServer,
    SmtpMailer,
    combined,
    rejection,
    transaction,
)
from functions.ports import Clock
from tests.in_memory.adapters import InMemorySecrets

PASSWORD = "correct horse"
ANN, BEN, CAM = "ann@example.com", "ben@example.com", "cam@example.com"
NONE: frozenset[int] = frozenset()
LINK = "<https://example.com/unsubscribe?token=" + "a" * 300 + ".b>"


class SteppedTime:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds = 0.0

    def clock(self) -> Clock:
        """Return the clock."""
        return Clock(lambda: datetime(2026, 5, 1, tzinfo=UTC), lambda: self.seconds, time.sleep)


def message(
    *to: str, sender: str = "Größe, Inc. <photos@example.com>", **fields: Any
) -> EmailMessage:
    """Return an email with a tag and the headers of a recap."""
    return EmailMessage(
        sender=sender,
        reply_to="Team <team@example.com>",
        subject=fields.get("subject", "Fotos für dich"),
        text="Hi %n%\n.\n..dots\nbye\n",
        html=f"<p>Hi %n%</p>{fields.get('html', '')}",
        copies=[
            Copy(
                address=address,
                headers={
                    "List-Unsubscribe": LINK,
                    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
                    "Content-Language": "de",
                },
                values={"%n%": address},
                labels={RECAP_LABEL: "recap-1", GUEST_LABEL: address},
            )
            for address in to
        ],
    )


@pytest.fixture(scope="module", autouse=True)
def _certificates() -> None:
    certificates.ensure()


@pytest.fixture
def inbox() -> Inbox:
    """Return an empty mailbox."""
    return Inbox(None)


@pytest.fixture
def server(inbox: Inbox) -> Iterator[SmtpServer]:
    """Run a mail server with STARTTLS."""
    with SmtpServer(inbox, PASSWORD) as running:
        yield running


def mailer(
    url: str,
    *,
    password: str | None = PASSWORD,
    connections: int = 4,
    at: SteppedTime | None = None,
) -> SmtpMailer:
    """Return the mailer for a local server."""
    secrets = InMemorySecrets({"SMTP_PASSWORD": (password,)} if password else {})
    tls = ssl.create_default_context(cafile=certificates.CA)
    return SmtpMailer(secrets, url, connections, tls, (at or SteppedTime()).clock())


@pytest.mark.parametrize("implicit", [False, True])
def test_email_is_complete(inbox: Inbox, *, implicit: bool) -> None:
    """A guest's email has all parts and headers, and no tag."""
    with SmtpServer(inbox, PASSWORD, implicit_tls=implicit) as server:
        assert mailer(server.url).send(message(ANN, BEN)) == Accepted("")
    ann, ben = inbox.emails
    assert (ann.to, ben.to) == (ANN, BEN)
    assert ann.text.splitlines() == [f"Hi {ANN}", ".", "..dots", "bye"]
    assert ben.html.strip() == f"<p>Hi {BEN}</p>"
    assert ann.sender == '"Größe, Inc." <photos@example.com>'
    assert ann.subject == "Fotos für dich"
    headers = {name.lower(): value for name, value in ann.headers.items()}
    assert headers["to"] == ANN
    assert headers["reply-to"] == "Team <team@example.com>"
    assert headers["list-unsubscribe"] == LINK
    assert headers["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
    assert headers["content-language"] == "de"
    assert headers["date"]
    assert headers["content-type"].startswith("multipart/alternative")
    assert headers["message-id"].endswith("@example.com>")
    assert ann.headers["Message-ID"] != ben.headers["Message-ID"]


def test_repeated_email_has_the_same_id(inbox: Inbox, server: SmtpServer) -> None:
    """The Message-ID follows from recap and guest, and is random without them."""
    mail = message(ANN)
    without_key = EmailMessage(
        sender=mail.sender,
        subject="s",
        text="t",
        html="h",
        copies=[Copy(address=ANN, headers={})],
    )
    sender = mailer(server.url)
    for each in (mail, mail, without_key, without_key):
        assert sender.send(each) == Accepted("")
    first, second, *others = [each.headers["Message-ID"] for each in inbox.emails]
    assert first == second
    assert len({first, *others}) == 3


def test_connection_is_kept(server: SmtpServer) -> None:
    """Requests share a connection while it is fresh."""
    at = SteppedTime()
    sender = mailer(server.url, at=at)
    for _ in range(3):
        assert sender.send(message(ANN)) == Accepted("")
    assert server.sessions == 1
    at.seconds = KEPT_SECONDS + 1
    assert sender.send(message(ANN)) == Accepted("")
    assert server.sessions == 2


@pytest.mark.parametrize(("connections", "recipients"), [(1, 50), (4, 12), (20, 2), (50, 1)])
def test_crash_leaves_at_most_50_emails_unknown(connections: int, recipients: int) -> None:
    """So many emails are in concurrent requests."""
    assert mailer("", connections=connections).recipients_per_request == recipients
    assert connections * recipients <= 50


NO_USER = "550 5.1.1 No such user"
LATER = "450 4.2.0 Mailbox is busy"


@pytest.mark.parametrize(
    ("fault", "outcome", "mailed"),
    [
        (
            SmtpFault("rcpt", NO_USER, address=BEN),
            PartlyAccepted(frozenset({0, 2}), NONE, BadAddresses(frozenset({0}))),
            [ANN, CAM],
        ),
        (SmtpFault("rcpt", "550 no", times=0), BadAddresses(frozenset({0, 1, 2})), []),
        (
            SmtpFault("rcpt", LATER, address=ANN),
            PartlyAccepted(frozenset({1, 2}), NONE, Later("rcpt: 450", None)),
            [BEN, CAM],
        ),
        (
            SmtpFault("message", "552 5.3.4 Too big", address=BEN),
            PartlyAccepted(frozenset({0, 2}), NONE, Refused("message: 552")),
            [ANN, CAM],
        ),
        (
            SmtpFault("message", NO_USER, address=ANN),
            PartlyAccepted(frozenset({1, 2}), NONE, BadAddresses(frozenset({0}))),
            [BEN, CAM],
        ),
        (
            SmtpFault("message", "451 4.7.1 Greylisted", address=ANN),
            PartlyAccepted(frozenset({1, 2}), NONE, Later("message: 451", None)),
            [BEN, CAM],
        ),
        (
            SmtpFault("mail", "421 4.7.0 Too many emails", after=1),
            PartlyAccepted(frozenset({0}), NONE, Later("mail: 421", None)),
            [ANN],
        ),
        (SmtpFault("mail", "451 4.3.0 Busy"), Later("mail: 451", None), []),
        (SmtpFault("mail", "553 5.7.1 Not yours"), Refused("mail: 553", Cause.SENDER), []),
        (SmtpFault("mail", "553 5.1.3 Bad syntax"), Refused("mail: 553", Cause.SENDER), []),
        (
            SmtpFault("rcpt", "553 5.7.1 <p@x.example>: Sender address rejected", times=0),
            Refused("rcpt: 553", Cause.SENDER),
            [],
        ),
        (
            SmtpFault("rcpt", "554 5.7.1 <ann@example.com>: Relay access denied", times=0),
            Refused("rcpt: 554", Cause.KEY),
            [],
        ),
        (
            SmtpFault("rcpt", "550 <ann@relay.example>: No", times=0),
            BadAddresses(frozenset({0, 1, 2})),
            [],
        ),
        (
            SmtpFault("rcpt", "550 5.4.5 Daily user sending limit exceeded", times=0),
            Refused("rcpt: 550", Cause.CREDITS),
            [],
        ),
        (SmtpFault("data", "554 5.5.1 No"), Refused("data: 554"), []),
        (SmtpFault("mail"), Later("mail: SMTPServerDisconnected", None), []),
        (
            SmtpFault("rcpt", address=BEN),
            PartlyAccepted(frozenset({0}), NONE, Later("rcpt: SMTPServerDisconnected", None)),
            [ANN],
        ),
        (
            SmtpFault("data", after=2),
            PartlyAccepted(frozenset({0, 1}), NONE, Later("data: SMTPServerDisconnected", None)),
            [ANN, BEN],
        ),
        (
            SmtpFault("message", address=BEN),
            PartlyAccepted(
                frozenset({0}),
                frozenset({1}),
                Later("an earlier email ended the connection", None),
            ),
            [ANN, BEN],
        ),
        (SmtpFault("auth", "535 5.7.8 Wrong", times=0), Refused("sign-in: 535", Cause.KEY), []),
        (SmtpFault("auth", "454 4.7.0 Later", times=0), Later("sign-in: 454", None), []),
        (SmtpFault("connect", "554 5.0.0 Go away"), Refused("session: 554", Cause.BUSY), []),
        (SmtpFault("connect", "421 4.3.2 Busy"), Later("session: 421", None), []),
        (SmtpFault("connect"), Later("not connected: SMTPServerDisconnected", None), []),
    ],
)
def test_outcome_follows_the_protocol(
    inbox: Inbox, server: SmtpServer, fault: SmtpFault, outcome: SendOutcome, mailed: list[str]
) -> None:
    """Only the reply to the dot accepts an email, and a fault of one email stops no other."""
    server.fail_with(fault)
    assert mailer(server.url).send(message(ANN, BEN, CAM)) == outcome
    assert [mail.to for mail in inbox.emails] == mailed


@pytest.mark.parametrize("stage", ["mail", "rcpt", "message"])
def test_connection_works_after_a_rejected_email(
    inbox: Inbox, server: SmtpServer, stage: Stage
) -> None:
    """The next request is accepted, over the same connection if that is possible."""
    sender = mailer(server.url)
    server.fail_with(SmtpFault(stage, "450 4.2.0 Later"))
    assert sender.send(message(ANN)) == Later(f"{stage}: 450", None)
    assert sender.send(message(ANN)) == Accepted("")
    assert server.sessions == (2 if stage == "mail" else 1)
    assert [mail.to for mail in inbox.emails] == [ANN]


def test_last_email_may_be_unknown(server: SmtpServer) -> None:
    """A lost reply to the only email leaves its outcome open."""
    server.fail_with(SmtpFault("message"))
    outcome = mailer(server.url).send(message(ANN))
    assert isinstance(outcome, Unknown)


def test_reply_that_is_no_rejection_is_unknown(server: SmtpServer) -> None:
    """A server that answers the dot with nonsense may have the email."""
    server.fail_with(SmtpFault("message", "299 Perhaps"))
    assert mailer(server.url).send(message(ANN)) == Unknown("message: 299")


def test_request_starts_no_email_late(inbox: Inbox, server: SmtpServer) -> None:
    """The rest is sent by the next request, without a pause."""
    at = SteppedTime()
    clock = Clock(at.clock().now, iter([0.0, 0.0, 31.0, 32.0, 33.0]).__next__, time.sleep)
    tls = ssl.create_default_context(cafile=certificates.CA)
    secrets = InMemorySecrets({"SMTP_PASSWORD": (PASSWORD,)})
    sender = SmtpMailer(secrets, server.url, 4, tls, clock)
    late = Later("the time of the request is over", 0.0)
    assert sender.send(message(ANN, BEN, CAM)) == PartlyAccepted(frozenset({0}), NONE, late)
    assert [mail.to for mail in inbox.emails] == [ANN]


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"subject": "a\nBcc: x@example.com"}, Refused("ValueError")),
        ({"sender": "photos at example"}, Refused("HeaderParseError", Cause.SENDER)),
    ],
)
def test_invalid_message_is_not_sent(
    inbox: Inbox, server: SmtpServer, fields: dict[str, str], outcome: SendOutcome
) -> None:
    """No header can be injected, and an invalid sender is named."""
    sent = mailer(server.url).send(message(ANN, **fields))
    assert isinstance(sent, Refused)
    assert sent.cause == getattr(outcome, "cause", None)
    assert inbox.emails == ()


@contextmanager
def _stopped(inbox: Inbox) -> Iterator[SmtpServer]:
    with SmtpServer(inbox, PASSWORD) as server:
        url = server.url

    class Stopped:
        pass

    stopped: Any = Stopped()
    stopped.url = url
    yield stopped


@pytest.mark.parametrize(
    ("start", "outcome"),
    [
        (_stopped, Later("not connected: ConnectionRefusedError", None)),
        (
            lambda inbox: SmtpServer(inbox, PASSWORD, offers_tls=False),
            Refused("not connected: SMTPNotSupportedError", Cause.BUSY),
        ),
        (
            lambda inbox: SmtpServer(
                inbox, PASSWORD, certificate=certificates.issue(["other.example"])
            ),
            Refused("not connected: SSLCertVerificationError", Cause.BUSY),
        ),
        (
            lambda inbox: SmtpServer(
                inbox,
                PASSWORD,
                certificate=certificates.issue(["other.example"]),
                implicit_tls=True,
            ),
            Refused("not connected: SSLCertVerificationError", Cause.BUSY),
        ),
        (lambda inbox: SmtpServer(inbox, "another"), Refused("sign-in: 535", Cause.KEY)),
    ],
)
def test_server_that_cannot_be_used(
    inbox: Inbox,
    start: Callable[[Inbox], AbstractContextManager[SmtpServer]],
    outcome: SendOutcome,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The password reaches only a server with a valid certificate, and never a log."""
    with start(inbox) as server:
        assert mailer(server.url).send(message(ANN)) == outcome
    assert inbox.emails == ()
    assert PASSWORD not in str(outcome) + "".join(capfd.readouterr())


def test_certificate_of_another_authority_is_rejected(inbox: Inbox, server: SmtpServer) -> None:
    """The operator's server must have a public certificate."""
    sender = mailer(server.url)
    public = SmtpMailer(sender.secrets, sender.url, 4, ssl.create_default_context(), sender.clock)
    assert public.send(message(ANN)) == Refused(
        "not connected: SSLCertVerificationError", Cause.BUSY
    )
    assert set(server.commands) == {"connect"}
    assert inbox.emails == ()


@pytest.mark.parametrize("password", [None, "pässword", "two\nlines", ""])
def test_unusable_password_is_named(server: SmtpServer, password: str | None) -> None:
    """Before a recap is planned, and if it is replaced later. Its value is in no text."""
    sender = mailer(server.url, password=password)
    if password == "":
        sender = SmtpMailer(
            InMemorySecrets({"SMTP_PASSWORD": ("",)}), server.url, 4, sender.tls, sender.clock
        )
    with pytest.raises(MisconfiguredError) as wrong:
        sender.check()
    assert wrong.value.setting == "SMTP_PASSWORD"
    outcome = sender.send(message(ANN))
    assert isinstance(outcome, Refused)
    assert outcome.cause is Cause.KEY
    assert not password or password not in str(wrong.value) + outcome.reason


@pytest.mark.parametrize(
    ("url", "server"),
    [
        (
            "smtps://ana%40example.com@mail.example:465",
            ("mail.example", 465, "ana@example.com", True),
        ),
        ("smtps://ana@mail.example", ("mail.example", 465, "ana", True)),
        ("smtp://apikey@mail.example", ("mail.example", 587, "apikey", False)),
        (" smtp://ana@mail.example:2525/ ", ("mail.example", 2525, "ana", False)),
        ("SMTP://ana@[2001:db8::1]:587", ("2001:db8::1", 587, "ana", False)),
    ],
)
def test_mail_url(url: str, server: tuple[str, int, str, bool]) -> None:
    """The port follows from the scheme."""
    assert MailServer.from_url(url) == MailServer(*server)


@pytest.mark.parametrize(
    "url",
    [
        "mail.example",
        "https://ana@mail.example",
        "smtp://mail.example:587",
        "smtp://@mail.example:587",
        "smtp://ana@:587",
        "smtp://ana@mail.example:99999",
        "smtp://ana@mail.example:x",
        "smtp://ana@mail.example:25",
        "smtps://ana@mail.example:25",
        "smtp://ana:hunter2@mail.example:587",
        "smtp://ana:@mail.example:587",
        "smtp://ana@mail.example:587/hunter2",
        "smtp://ana@mail.example:587?tls=no",
        "smtp://ana%0d%0a@mail.example:587",
        "smtp://%C3%A4@mail.example:587",
        "://",
        "smtp://[ana@mail.example",
    ],
)
def test_invalid_mail_url_is_named(url: str) -> None:
    """Port 25 is refused with the reason. A password in the URL is not repeated."""
    with pytest.raises(MisconfiguredError) as wrong:
        mailer(url).check()
    assert wrong.value.setting == "MAIL_URL"
    assert "hunter2" not in str(wrong.value)
    assert ("25" in str(wrong.value)) == (":25" in url)


def test_mailer_with_url_and_password_is_ready() -> None:
    """The check needs no connection."""
    mailer("smtp://ana@mail.example:587").check()


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        ((530, b"5.7.0 Must issue a STARTTLS command first"), Cause.KEY),
        (
            (550, b"5.7.60 SMTP; Client does not have permissions to send as this sender"),
            Cause.SENDER,
        ),
        ((554, b"Message rejected: Email address is not verified."), Cause.SENDER),
        ((550, b"5.7.1 Sending quota exceeded"), Cause.CREDITS),
        ((554, "5.7.1 Maximum credits exceeded"), Cause.CREDITS),
        ((552, b"5.3.4 Message size exceeds fixed limit"), None),
        ((554, b"5.7.1 Looks like spam"), None),
    ],
)
def test_cause_of_a_rejected_message(reply: tuple[int, bytes | str], cause: Cause | None) -> None:
    """Replies of well-known servers, after the dot."""
    assert rejection("message", *reply) == Refused(f"message: {reply[0]}", cause)


@pytest.mark.parametrize(
    "text",
    [
        b"5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
        b"5.7.1 [192.0.2.1] is on our blocklist (S3140)",
        b"5.7.26 This mail has been blocked because the sender is unauthenticated",
        b"5.7.23 SPF validation failed",
        b"Rejected because of the poor reputation of your server",
        b"DMARC policy of x.example is reject",
        b"Found on RBL",
    ],
)
def test_blocked_server_is_no_bad_address(text: bytes) -> None:
    """Otherwise every guest would be skipped as if their own address were invalid."""
    assert rejection("rcpt", 550, text) == Refused("rcpt: 550", Cause.SENDER)


@pytest.mark.parametrize(
    "text", [b"5.1.1 No such user", b"5.2.1 Mailbox disabled", b"Unknown user", b"5.7.1 Not here"]
)
def test_rejected_recipient_is_a_bad_address(text: bytes) -> None:
    """The other guests of the request get their emails."""
    assert rejection("rcpt", 550, text) == BadAddresses(frozenset({0}))


def test_outcomes_of_one_request() -> None:
    """Bad addresses come first, so that the others follow without them."""
    later, bad = Later("x", None), BadAddresses(frozenset({0}))
    assert combined([later, bad]) == BadAddresses(frozenset({1}))
    assert combined([Accepted(""), later, bad]) == PartlyAccepted(
        frozenset({0}), NONE, BadAddresses(frozenset({1}))
    )
    assert combined([Accepted(""), Unknown("x")]) == PartlyAccepted(
        frozenset({0}), frozenset({1}), None
    )
    assert combined([Unknown("x")]) == Unknown("x")
    assert combined([later, later]) == later


def test_long_words_stay_whole() -> None:
    """Python would encode a long link, which mail programs then do not find."""
    from functions.mail.smtp import _mailbox, mime_message  # noqa: PLC0415

    mail = message(ANN, subject="ü" * 100, html="x" * 5000)
    body = mime_message(
        mail, mail.copies[0], _mailbox(mail.sender), "Fri, 01 May 2026 00:00:00 +0000"
    )
    assert f"List-Unsubscribe: {LINK}\r\n".encode() in body
    assert all(len(line) <= 998 for line in body.split(b"\r\n"))
    assert b"\n" not in body.replace(b"\r\n", b"")
    assert body.isascii()
    assert message_from_bytes(body, policy=policy.default)["Subject"] == "ü" * 100


class ScriptedSession:
    """A connection that fails at a step of an email."""

    def __init__(self, fails_at: str) -> None:
        """Fail at `body`, `dot` or before the dot with a reply (`reply`) or an end (`end`)."""
        self.fails_at = fails_at
        self.sock: socket.socket | None
        self.sock, self._peer = socket.socketpair()
        self.sent: list[bytes] = []

    def mail(self, _: str) -> tuple[int, bytes]:
        """Accept the sender."""
        return 250, b""

    rcpt = mail

    def docmd(self, _: str) -> tuple[int, bytes]:
        """Ask for the body."""
        if self.fails_at == "reply":
            self._peer.send(b"452 4.3.1 Disk full\r\n")
        if self.fails_at == "end":
            self._peer.close()
        return 354, b""

    def send(self, data: bytes) -> None:
        """Send data, or fail."""
        if self.fails_at == ("dot" if data == b".\r\n" else "body"):
            raise smtplib.SMTPServerDisconnected
        self.sent.append(data)

    def getreply(self) -> tuple[int, bytes]:
        """Return the reply."""
        if self.fails_at == "end":
            raise smtplib.SMTPServerDisconnected
        return 452, b"4.3.1 Disk full"

    def close(self) -> None:
        """Close the connection."""
        if self.sock:
            self.sock.close()
            self._peer.close()
        self.sock = None


@pytest.mark.parametrize(
    ("fails_at", "outcome"),
    [
        ("body", Later("data: SMTPServerDisconnected", None)),
        ("reply", Later("session: 452", None)),
        ("end", Later("session: SMTPServerDisconnected", None)),
        ("dot", Unknown("message: SMTPServerDisconnected")),
    ],
)
def test_dot_decides_whether_an_email_may_be_accepted(fails_at: str, outcome: SendOutcome) -> None:
    """A connection that breaks before the final dot has accepted nothing."""
    session: Any = ScriptedSession(fails_at)
    assert transaction(session, "a@b.example", ANN, b"body\r\n", 30.0) == outcome
    assert b".\r\n" not in session.sent
    assert session.sock is None
