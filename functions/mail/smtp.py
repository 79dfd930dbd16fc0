"""Email through any mail server by SMTP, over kept connections.

A request sends its emails one after another over one connection. The server accepts an email with
its reply to the final dot. Until the dot is sent, a lost connection proves that the email was not
accepted. From the dot to the reply, the outcome is unknown.
https://www.rfc-editor.org/rfc/rfc5321
"""

import hashlib
import re
import select
import smtplib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage as MimeMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, make_msgid
from functools import partial
from ssl import SSLCertVerificationError, SSLContext
from typing import Any, ClassVar, Final, Self
from urllib.parse import unquote, urlsplit

from functions.mail.message import (
    GUEST_LABEL,
    RECAP_LABEL,
    Copy,
    EmailMessage,
    name_and_address,
    usable_key,
)
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
from functions.ports import Clock, SecretReader

KEY_NAME: Final = "SMTP_PASSWORD"
"""The secret with the password."""

EMAILS_AT_ONCE: Final = 50
"""Emails in the concurrent requests of one instance. After a crash they are unknown."""

CONNECT_SECONDS: Final = 10.0
"""Timeout of each reply while a connection is opened."""

REQUEST_SECONDS: Final = 60.0
"""Time of a request, as with SendGrid."""

LAST_EMAIL_SECONDS: Final = 30.0
"""Time that a request leaves for its last email. Content filters delay the reply to the dot."""

KEPT_SECONDS: Final = 10.0
"""How long an idle connection is kept. Cloud Run may suspend an instance between two calls."""

_PORTS: Final[Mapping[str, int]] = {"smtps": 465, "smtp": 587}
_BLOCKED_PORT: Final = 25
_URL: Final = "smtps://USER@HOST:465 or smtp://USER@HOST:587, with %40 for an @ in USER"
_PRINTABLE: Final = re.compile(r"[ -~]+")

_NO_REPLY: Final = -1
_OK: Final = 250
_READY_FOR_DATA: Final = 354
_SHUTTING_DOWN: Final = 421
_RECIPIENT_OK: Final = (250, 251, 252)
_REJECTIONS: Final = range(400, 600)
_PERMANENT: Final = range(500, 600)

_ADDRESS: Final = re.compile(r"\S*@\S*")
_BAD_ADDRESS: Final = re.compile(r"\b5\.(1\.[1236]|2\.[12])\b")
"""Enhanced status codes (RFC 3463), also of servers that check the recipient after the dot."""

_CAUSES: Final[Mapping[Cause, re.Pattern[str]]] = {
    Cause.CREDITS: re.compile(
        r"\b5\.4\.5\b|(daily|hourly|monthly|sending) .*(limit|quota)|credits"
    ),
    Cause.SENDER: re.compile(
        r"\b5\.1\.[78]\b|\b5\.7\.(60|2[0-9])\b|sender address|send as|not verified"
        r"|spamhaus|\b(rbl|dnsbl|spf|dkim|dmarc)\b|bl(ock|ack) ?list|client host|reputation"
    ),
    Cause.KEY: re.compile(r"^53[0458]\b|\b5\.7\.[89]\b|relay|authenticat|not logged in"),
}
"""Replies that concern the sender or the session, in lowercase. Postfix sends them after RCPT."""

_CAUSE_AT: Final = {"mail": Cause.SENDER, "session": Cause.BUSY, "sign-in": Cause.KEY}
"""The cause of any other permanent rejection at stages that concern no recipient."""

_NOT_TRIED: Final = Later("an earlier email ended the connection", None)


@dataclass(frozen=True, slots=True)
class MailServer:
    """The mail server and account in `MAIL_URL`."""

    host: str
    port: int
    user: str
    has_implicit_tls: bool

    @classmethod
    def from_url(cls, url: str) -> Self:
        """Parse `MAIL_URL`.

        Raises:
            MisconfiguredError: The URL is invalid. The error does not contain it.
        """
        try:
            parts = urlsplit(url.strip())
            default, port = _PORTS[parts.scheme], parts.port
        except (ValueError, KeyError):
            raise MisconfiguredError("MAIL_URL", _URL) from None
        if parts.password is not None:
            raise MisconfiguredError("MAIL_URL", f"without the password, which {KEY_NAME} has")
        if port == _BLOCKED_PORT:
            raise MisconfiguredError("MAIL_URL", "with port 465 or 587. Google blocks port 25")
        user, rest = unquote(parts.username or ""), parts.path + parts.query + parts.fragment
        if not parts.hostname or not _PRINTABLE.fullmatch(user) or rest not in ("", "/"):
            raise MisconfiguredError("MAIL_URL", _URL)
        return cls(parts.hostname, port or default, user, parts.scheme == "smtps")

    def sign_in(self, password: str, tls: SSLContext) -> smtplib.SMTP:
        """Return a signed-in connection with verified TLS.

        Raises:
            OSError: The server is unavailable, has no TLS or a certificate that is not trusted, or
                rejects the session or the password. Errors of `smtplib` are among them.
        """
        implicit = partial(smtplib.SMTP_SSL, context=tls)
        connect = implicit if self.has_implicit_tls else smtplib.SMTP
        smtp = connect(self.host, self.port, timeout=CONNECT_SECONDS)
        try:
            if not self.has_implicit_tls:
                smtp.starttls(context=tls)
            smtp.login(self.user, password)
        except BaseException:
            smtp.close()
            raise
        return smtp


@dataclass(frozen=True, slots=True)
class SmtpMailer:
    """Adapter for `message.Mailer`, with `connections` of `MAIL_CONNECTIONS`."""

    key_name: ClassVar = KEY_NAME

    secrets: SecretReader
    url: str
    connections: int
    tls: SSLContext
    clock: Clock
    _idle: deque[tuple[float, smtplib.SMTP]] = field(default_factory=deque, init=False)

    @property
    def recipients_per_request(self) -> int:
        """Implement `Mailer.recipients_per_request`."""
        return EMAILS_AT_ONCE // self.connections

    def check(self) -> None:
        """Implement `Mailer.check`."""
        self._account()

    def send(self, message: EmailMessage) -> SendOutcome:
        """Implement `Mailer.send`."""
        ends_at = self.clock.monotonic() + REQUEST_SECONDS
        try:
            smtp = self._connection()
        except MisconfiguredError as error:
            return Refused(str(error), Cause.KEY)
        except smtplib.SMTPResponseException as error:
            is_sign_in = isinstance(error, smtplib.SMTPAuthenticationError)
            stage = "sign-in" if is_sign_in else "session"
            return rejection(stage, error.smtp_code, error.smtp_error)
        except (smtplib.SMTPNotSupportedError, SSLCertVerificationError) as error:
            return Refused(f"not connected: {type(error).__name__}", Cause.BUSY)
        except Exception as error:  # noqa: BLE001 - no connection, so no email was sent
            return Later(f"not connected: {type(error).__name__}", None)
        outcome = combined(self._outcomes(smtp, message, ends_at))
        if smtp.sock is not None:
            self._idle.append((self.clock.monotonic(), smtp))
        return outcome

    def _connection(self) -> smtplib.SMTP:
        with suppress(IndexError):
            while True:
                since, smtp = self._idle.pop()
                if self.clock.monotonic() - since <= KEPT_SECONDS:
                    return smtp
                smtp.close()
        server, password = self._account()
        return server.sign_in(password, self.tls)

    def _account(self) -> tuple[MailServer, str]:
        should_be = "the password of the account in MAIL_URL"
        server = MailServer.from_url(self.url)
        return server, usable_key(self.secrets, KEY_NAME, _PRINTABLE, should_be)

    def _outcomes(
        self, smtp: smtplib.SMTP, message: EmailMessage, ends_at: float
    ) -> Iterator[SendOutcome]:
        """Send the copies and yield the outcome of each."""
        ended: SendOutcome | None = None
        for copy in message.copies:
            seconds = ends_at - self.clock.monotonic()
            if seconds < LAST_EMAIL_SECONDS and not ended:
                ended = Later("the time of the request is over", 0.0)
            outcome = ended or self._sent(smtp, message, copy, seconds)
            if smtp.sock is None and not ended:
                ended = outcome if isinstance(outcome, Later | Refused) else _NOT_TRIED
            yield outcome

    def _sent(
        self, smtp: smtplib.SMTP, message: EmailMessage, copy: Copy, seconds: float
    ) -> SendOutcome:
        cause: Cause | None = Cause.SENDER
        try:
            sender = _mailbox(message.sender)
            cause = None
            body = mime_message(message, copy, sender, format_datetime(self.clock.now()))
        except Exception as error:  # noqa: BLE001 - not sent, and the other copies may be valid
            return Refused(type(error).__name__, cause)
        return transaction(smtp, sender.addr_spec, copy.address, body, seconds)


def transaction(
    smtp: smtplib.SMTP, sender: str, to: str, body: bytes, seconds: float
) -> SendOutcome:
    """Send one email. Close the connection unless it can send another one.

    A reply takes at most `seconds`.
    """
    stage, problem = "mail", ""
    try:
        sock: Any = smtp.sock
        sock.settimeout(seconds)
        code, text = smtp.mail(sender)
        if code == _OK:
            stage = "rcpt"
            code, text = smtp.rcpt(to)
        if stage == "rcpt" and code in _RECIPIENT_OK:
            stage = "data"
            code, text = smtp.docmd("DATA")
        if stage == "data" and code == _READY_FOR_DATA:
            smtp.send(body)
            stage = "session"
            if not select.select([sock], [], [], 0)[0]:  # no reply, which would reject it
                stage = "message"
                smtp.send(b".\r\n")
            code, text = smtp.getreply()
    except Exception as error:  # noqa: BLE001 - the stage decides, whatever the error
        code, text, problem = _NO_REPLY, b"", type(error).__name__
    if stage == "message" and code == _OK:
        return Accepted("")
    if code not in _REJECTIONS:
        smtp.close()
        reason = f"{stage}: {problem or code}"
        return Unknown(reason) if stage == "message" else Later(reason, None)
    concerns_one = stage in ("rcpt", "message") and code != _SHUTTING_DOWN
    with suppress(OSError):
        if not concerns_one or smtp.rset()[0] != _OK:
            smtp.close()
    return rejection(stage, code, text)


def rejection(stage: str, code: int, text: bytes | str) -> BadAddresses | Later | Refused:
    """Return the outcome of a negative reply. Words of the reply are not kept."""
    reason = f"{stage}: {code}"
    if code not in _PERMANENT:
        return Later(reason, None)
    said = f"{code} {_ADDRESS.sub('', repr(text).lower())}"
    causes = (cause for cause, pattern in _CAUSES.items() if pattern.search(said))
    cause = next(causes, _CAUSE_AT.get(stage))
    is_bad = stage not in _CAUSE_AT and _BAD_ADDRESS.search(said)
    if is_bad or (stage == "rcpt" and cause is None):
        return BadAddresses(frozenset({0}))
    return Refused(reason, cause)


def combined(outcomes: Iterable[SendOutcome]) -> SendOutcome:
    """Return the outcome of a request from the outcomes of its copies."""
    each = list(outcomes)
    accepted, unknown = _indices(each, Accepted), _indices(each, Unknown)
    others = [outcome for n, outcome in enumerate(each) if n not in accepted | unknown]
    bad = _indices(others, BadAddresses)
    rest = BadAddresses(bad) if bad else next(iter(others), None)
    if not accepted and not unknown and rest:
        return rest
    if rest or (accepted and unknown):
        return PartlyAccepted(accepted, unknown, rest)
    return each[0]


def _indices(outcomes: Sequence[SendOutcome], kind: type) -> frozenset[int]:
    return frozenset(n for n, outcome in enumerate(outcomes) if isinstance(outcome, kind))


class _Policy(EmailPolicy):
    """Policy that keeps links and IDs whole. Python encodes words of more than 78 characters."""

    def fold_binary(self, name: str, value: str) -> bytes:
        """Return the header as bytes."""
        if value.isascii() and " " not in value:
            return f"{name}: {value}\r\n".encode()
        return super().fold_binary(name, value)


def mime_message(message: EmailMessage, copy: Copy, sender: Address, date: str) -> bytes:
    """Return the email of one recipient, without tags, in the form that precedes the final dot."""
    text, html = message.render(copy)
    mime = MimeMessage(policy=_Policy(linesep="\r\n"))
    mime["From"] = sender
    mime["To"] = Address(addr_spec=copy.address)
    mime["Subject"] = message.subject
    mime["Date"] = date
    recap, guest = (copy.labels.get(label) for label in (RECAP_LABEL, GUEST_LABEL))
    # A repeated email has the same ID, so that a mail program can recognize it.
    key = hashlib.sha256(f"{recap}/{guest}".encode()).hexdigest()[:32]
    mime["Message-ID"] = f"<{key}@{sender.domain}>" if guest else make_msgid(domain=sender.domain)
    if message.reply_to:
        mime["Reply-To"] = _mailbox(message.reply_to)
    mime.set_content(text, cte="quoted-printable")
    mime.add_alternative(html, subtype="html", cte="quoted-printable")
    for name, value in copy.headers.items():  # last, because the lines above clear Content-Language
        mime[name] = value
    return re.sub(rb"^\.", b"..", mime.as_bytes(), flags=re.MULTILINE)


def _mailbox(text: str) -> Address:
    name, address = name_and_address(text)
    return Address(name, addr_spec=address)
