"""An email service that accepts every request and answers after a fixed time.

Benchmarks run it in a separate process. They don't use `emulator.mailbox`, which renders every
email and is slower than the function that sends it.
"""

import time
from dataclasses import dataclass

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
