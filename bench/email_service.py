"""Email services that accept everything and answer after a fixed time.

Benchmarks run it in a separate process. They don't use `emulator.mailbox`, which renders every
email and is slower than the function that sends it.
"""

import time
from dataclasses import dataclass
from typing import Any

from emulator import certificates
from emulator.mailbox.smtp_server import SmtpServer
from emulator.provider_models import sendgrid
from emulator.server import HOST, HttpRequest, HttpResponse, StandIn


@dataclass(frozen=True, slots=True)
class Traffic:
    """Number of requests, and seconds from the first request to the last response."""

    requests: int
    seconds: float


class EmailService:
    """Answers each request after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: list[tuple[float, float]] = []
        self._server = StandIn(self._accept)

    def _accept(self, _: HttpRequest) -> HttpResponse:
        arrived = time.monotonic()
        time.sleep(self._seconds)  # the simulated time of the email service
        self._times.append((arrived, time.monotonic()))
        answer = sendgrid.accepted("sample")
        return answer.status, answer.headers, answer.body

    def address(self) -> str:
        """Return the service's URL."""
        return f"http://{HOST}:{self._server.port}"

    def traffic(self) -> Traffic:
        """Return the traffic since the previous call."""
        arrived, answered = zip(*self._times, strict=True) if self._times else ((0.0,), (0.0,))
        traffic = Traffic(len(self._times), max(answered) - min(arrived))
        self._times.clear()
        return traffic


class SmtpService:
    """A mail server with TLS that accepts each email after `seconds`."""

    def __init__(self, seconds: float, password: str) -> None:
        certificates.ensure()
        self._accepted: list[float] = []
        inbox: Any = self
        self._server = SmtpServer(inbox, password, delay=seconds).__enter__()

    def deliver(self, _: object) -> None:
        """Count an email without parsing it."""
        self._accepted.append(time.monotonic())

    def address(self) -> str:
        """Return the server's URL, as in MAIL_URL."""
        return self._server.url

    def traffic(self) -> Traffic:
        """Return the emails, and the seconds from the first to the last."""
        return Traffic(len(self._accepted), max(self._accepted) - min(self._accepted))
