"""A mail server with TLS and sign-in, which adds the emails to the mailbox.

with SmtpServer(mailbox, PASSWORD, port=9587) as server:
server.fail_with(SmtpFault("rcpt", "550 5.1.1 No such user", address="ann@example.com"))
...  # have the service send to server.url
"""

import asyncio
import email.policy
import logging
import ssl
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any, Final, Literal, Self, cast
from urllib.parse import quote

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from emulator import certificates
from emulator.mailbox.emails import Email
from emulator.mailbox.inbox import Inbox

USER: Final = "photos@example.com"

logging.getLogger("mail.log").setLevel(logging.ERROR)  # of aiosmtpd, which warns about itself

Stage = Literal["connect", "auth", "mail", "rcpt", "data", "message"]
"""The command that a fault answers. `message` follows the final dot."""


@dataclass(frozen=True, slots=True)
class SmtpFault:
    """A reply instead of the usual one.

    Attributes:
        stage: The command.
        reply: The reply. Empty cuts the connection.
        address: The recipient that the fault is for, or empty for all of them.
        times: Number of commands that fail, or 0 for all.
        after: Number of commands that succeed first.
    """

    stage: Stage
    reply: str = ""
    address: str = ""
    times: int = 1
    after: int = 0


class SmtpServer:
    """A running mail server, and a context manager.

    Attributes:
        inbox: Gets the emails.
        sessions: Number of connections that have signed in.
        commands: The stages that clients have reached, in order.
    """

    def __init__(
        self,
        inbox: Inbox,
        password: str,
        *,
        port: int = 0,
        certificate: Path = certificates.SERVER,
        implicit_tls: bool = False,
        offers_tls: bool = True,
        delay: float = 0.0,
    ) -> None:
        """Configure a server.

        Args:
            inbox: Gets the emails.
            password: Password of `USER`.
            port: 0 selects a free port.
            certificate: Private key and certificate chain.
            implicit_tls: Whether TLS starts with the connection.
            offers_tls: Whether STARTTLS is offered otherwise.
            delay: Seconds before the reply to each email.
        """
        self.inbox = inbox
        self._password = password
        self._delay = delay
        self._lock = threading.Lock()
        self._faults: list[SmtpFault] = []
        self.sessions = 0
        self.commands: list[str] = []
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
        self._scheme = "smtps" if implicit_tls else "smtp"
        options: dict[str, Any] = {
            "auth_required": True,
            "auth_require_tls": not implicit_tls and offers_tls,
            "authenticator": self._authenticate,
            "ident": "Local mail server",
            "ready_timeout": 60.0,
        }
        if offers_tls and not implicit_tls:
            options |= {"tls_context": tls, "require_starttls": True}
        self._controller = _Controller(
            self,
            hostname="127.0.0.1",
            port=port,
            server_hostname="localhost",
            ssl_context=tls if implicit_tls else None,
            **options,
        )

    def __enter__(self) -> Self:
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._controller.port

    @property
    def url(self) -> str:
        """Its address, as in MAIL_URL."""
        return f"{self._scheme}://{quote(USER, safe='')}@localhost:{self.port}"

    def fail_with(self, *faults: SmtpFault) -> None:
        """Add faults."""
        with self._lock:
            self._faults.extend(faults)

    def fault(self, stage: Stage, address: str = "") -> SmtpFault | None:
        """Return the fault of this command, if any, and count the command."""
        with self._lock:
            self.commands.append(stage)
            for index, fault in enumerate(self._faults):
                if fault.stage != stage or fault.address not in ("", address):
                    continue
                if fault.after:
                    self._faults[index] = replace(fault, after=fault.after - 1)
                    return None
                if fault.times == 1:
                    del self._faults[index]
                elif fault.times:
                    self._faults[index] = replace(fault, times=fault.times - 1)
                return fault
        return None

    def _authenticate(
        self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        del server, session, envelope, mechanism
        if fault := self.fault("auth"):
            return AuthResult(success=False, handled=False, message=fault.reply)
        given = (data.login.decode(), data.password.decode())
        self.sessions += given == (USER, self._password)
        return AuthResult(success=given == (USER, self._password), handled=False)

    async def handle_MAIL(  # noqa: N802 - as aiosmtpd names and calls it
        self, server: "_Smtp", _: Session, envelope: Envelope, address: str, __: list[str]
    ) -> str:
        """Accept a sender."""
        reply = self._reply(server, "mail")
        if reply is None:
            envelope.mail_from = address
        return reply or "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: "_Smtp", _: Session, envelope: Envelope, address: str, __: list[str]
    ) -> str:
        """Accept a recipient."""
        reply = self._reply(server, "rcpt", address)
        if reply is None:
            envelope.rcpt_tos.append(address)
        return reply or "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: "_Smtp", _: Session, envelope: Envelope
    ) -> str:
        """Accept an email. A connection that is cut here has delivered it."""
        [to] = envelope.rcpt_tos
        await asyncio.sleep(self._delay)
        reply = self._reply(server, "message", to)
        if not reply:
            content = cast("bytes", envelope.content)
            self.inbox.deliver(lambda number: _email(content, to, number))
        return reply or "250 OK"

    def _reply(self, server: "_Smtp", stage: Stage, address: str = "") -> str | None:
        """Return the reply of a fault, empty if the connection was cut, or None without fault."""
        fault = self.fault(stage, address)
        if fault is None:
            return None
        if not fault.reply:
            server.cut()
        return fault.reply


class _Smtp(SMTP):
    """The protocol, with faults that aiosmtpd has no hook for."""

    def cut(self) -> None:
        """Cut the connection."""
        transport: Any = self.transport
        if transport is not None:
            transport.abort()

    async def _handle_client(self) -> None:
        owner: SmtpServer = self.event_handler
        if fault := owner.fault("connect"):
            if fault.reply:
                await self.push(fault.reply)
            self.cut()
            return
        await super()._handle_client()

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - as aiosmtpd names it
        """Answer DATA."""
        owner: SmtpServer = self.event_handler
        if fault := owner.fault("data"):
            if fault.reply:
                await self.push(fault.reply)
            else:
                self.cut()
        else:
            await super().smtp_DATA(arg)


class _Controller(Controller):
    def factory(self) -> SMTP:
        """Return the protocol of a connection."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # implicit TLS and servers without TLS
            return _Smtp(self.handler, **self.SMTP_kwargs)

    def _trigger_server(self) -> None:
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]  # of a free port
        super()._trigger_server()  # type: ignore[no-untyped-call]


def _email(content: bytes, to: str, number: int) -> Email:
    message = message_from_bytes(content, policy=email.policy.default)
    text, html = (message.get_body([kind]) for kind in ("plain", "html"))
    headers: Mapping[str, str] = {name: str(value) for name, value in message.items()}
    return Email(
        number=number,
        at=datetime.now(UTC),
        message_id=headers.get("Message-ID", ""),
        to=to,
        sender=headers.get("From", ""),
        subject=headers.get("Subject", ""),
        text=text.get_content() if text else "",
        html=html.get_content() if html else "",
        headers=headers,
        personalization={},
    )
