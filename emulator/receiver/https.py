"""The receiver over HTTPS."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

    from emulator.receiver.answers import Answer
    from emulator.receiver.receiver import Receiver

# Bytes; nothing that the service sends comes near.
MAX_BODY = 10_000_000


def handler_of(owner: Receiver) -> type[BaseHTTPRequestHandler]:
    """Return the class that serves one receiver."""

    class Handler(_Handler):
        receiver = owner

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    receiver: Receiver

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdecimal():
            self.close_connection = True
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            return
        if int(length) > MAX_BODY:
            self.close_connection = True
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        answer = self.receiver.receive(self.command, self.path, self.headers, body)
        closing = self.receiver.closing
        if answer.delay and closing.wait(answer.delay):
            self.close_connection = True
            return
        if answer.drip:
            self._drip(answer, closing)
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    # Whatever the method: that no redirect is followed with a GET can be seen only if it is kept.
    do_GET = do_PUT = do_POST  # noqa: N815 - http.server looks them up by these names

    def _drip(self, answer: Answer, closing: threading.Event) -> None:
        self.close_connection = True
        head = f"HTTP/1.1 {answer.status:d} \r\nContent-Length: 0\r\n\r\n".encode()
        for byte in head:
            self.wfile.write(bytes([byte]))
            if closing.wait(answer.drip):
                return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: `on_request` is for whoever wants to see."""
