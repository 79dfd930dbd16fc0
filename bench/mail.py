"""A mail service that takes everything and answers after a set time: a process of its own.

`emulator.mailbox` writes every mail as it would be read, which takes longer than sending it.
"""

import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection

from bench.turns import until_closed


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests, and seconds from the arrival of the first to the answer of the last."""

    requests: int
    seconds: float


def take_mail(pipe: Connection, seconds: float) -> None:
    """Answer each request `seconds` after it has arrived whole.

    Answers `port`, and `traffic` since that was last asked for.
    """
    server = _Server(seconds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with until_closed():
        while True:
            question = pipe.recv()
            pipe.send(server.server_port if question == "port" else server.traffic())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seconds = seconds
        self.times: list[tuple[float, float]] = []

    def traffic(self) -> Traffic:
        times, self.times = self.times, []
        if not times:
            return Traffic(0, 0.0)
        first = min(arrived for arrived, _ in times)
        return Traffic(len(times), max(answered for _, answered in times) - first)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        arrived = time.monotonic()
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.seconds)  # the time that the mail service takes
        self.send_response(HTTPStatus.ACCEPTED)
        self.send_header("X-Message-Id", "made-up")
        self.end_headers()
        self.server.times.append((arrived, time.monotonic()))
