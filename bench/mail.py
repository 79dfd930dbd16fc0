"""A mail service that takes everything and answers after a set time: a process of its own.

`emulator.mailbox` writes every mail as it would be read, which takes longer than sending it.
"""

import time
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from emulator.server import HOST, LocalServer, StandIn


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests, and seconds from the arrival of the first to the answer of the last."""

    requests: int
    seconds: float


class MailService(StandIn):
    """Answers each request `seconds` after it has arrived whole."""

    def __init__(self, seconds: float) -> None:
        times = self._times = list[tuple[float, float]]()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Print nothing."""

            def do_POST(self) -> None:
                arrived = time.monotonic()
                self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(seconds)  # the time that the mail service takes
                self.send_response(HTTPStatus.ACCEPTED)
                self.send_header("X-Message-Id", "made-up")
                self.end_headers()
                times.append((arrived, time.monotonic()))

        super().__init__(LocalServer(0, Handler))

    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def traffic(self) -> Traffic:
        """What came since this was last asked for."""
        arrived, answered = zip(*self._times, strict=True) if self._times else ((0.0,), (0.0,))
        traffic = Traffic(len(self._times), max(answered) - min(arrived))
        self._times.clear()
        return traffic
