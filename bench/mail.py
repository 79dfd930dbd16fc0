"""A mail service that takes everything and answers after a set time: a process of its own.

`emulator.mailbox` writes every mail as it would be read, which takes longer than sending it.
"""

import time
from dataclasses import dataclass

from emulator.provider_models import sendgrid
from emulator.server import HOST, HttpRequest, HttpResponse, StandIn


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests, and seconds from the arrival of the first to the answer of the last."""

    requests: int
    seconds: float


class MailService:
    """Answers each request `seconds` after it has arrived whole."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: list[tuple[float, float]] = []
        self._server = StandIn(self._accept)

    def _accept(self, _: HttpRequest) -> HttpResponse:
        arrived = time.monotonic()
        time.sleep(self._seconds)  # the time that the mail service takes
        self._times.append((arrived, time.monotonic()))
        answer = sendgrid.accepted("made-up")
        return answer.status, answer.headers, answer.body

    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self._server.port}"

    def traffic(self) -> Traffic:
        """What came since this was last asked for."""
        arrived, answered = zip(*self._times, strict=True) if self._times else ((0.0,), (0.0,))
        traffic = Traffic(len(self._times), max(answered) - min(arrived))
        self._times.clear()
        return traffic
