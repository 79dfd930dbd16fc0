"""The receiver over HTTPS."""

import threading
from collections.abc import Callable
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from emulator.receiver.answers import Answer

# Bytes; nothing that the service sends comes near.
MAX_BODY = 10_000_000


def handler_of(
    receive: Callable[[str, str, Message, bytes], Answer], closing: threading.Event
) -> type[BaseHTTPRequestHandler]:
    """Return the class that serves one receiver.

    Args:
        receive: Takes method, path, headers and body of a request, and gives the answer.
        closing: Set when the receiver closes, so that no delayed answer holds it up.
    """
    return type("Handler", (_Handler,), {"receive": staticmethod(receive), "closing": closing})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    receive: Callable[[str, str, Message, bytes], Answer]
    closing: threading.Event

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
        answer = self.receive(self.command, self.path, self.headers, body)
        if answer.delay and self.closing.wait(answer.delay):
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    # Every method is kept, so that a redirect that was followed with a GET would be seen.
    do_GET = do_PUT = do_POST  # noqa: N815 - http.server looks them up by these names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: `on_request` reports requests."""
