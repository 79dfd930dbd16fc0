"""A body that drips: under gunicorn with its real threads, against the real `main.py`."""

import base64
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from emulator.suite import PROJECT
from tests.suite.process import FunctionProcess

THREADS: Final = 2
_SECONDS: Final = 60
"""How long an answer is waited for, on the busiest machine."""

DRIP_SECONDS: Final = 0.5
DRIP: Final = b'{"data": {"eventId": "'


def token_of_staff() -> str:
    """An ID token as the Auth emulator gives it, which signs nothing."""
    now = int(time.time())
    claims = {
        "sub": "u1",
        "aud": PROJECT,
        "iss": f"https://securetoken.google.com/{PROJECT}",
        "iat": now,
        "auth_time": now,
        "exp": now + 3600,
        "role": "admin",
        "tenantId": "acme",
    }
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


class Dripping:
    """A connection that sends headers, the beginning of a body, and then a byte now and then."""

    def __init__(self, port: int, stack: ExitStack, *headers: str, path: str = "/") -> None:
        self._socket = stack.enter_context(socket.create_connection(("127.0.0.1", port), _SECONDS))
        head = [f"POST {path} HTTP/1.1", "Host: wall", "Content-Length: 1000"]
        self._socket.sendall("\r\n".join([*head, *headers, "", ""]).encode() + DRIP)
        self._answered = threading.Event()
        self._thread = threading.Thread(target=self._drip)
        self._thread.start()
        stack.callback(self._thread.join)
        stack.callback(self._answered.set)

    def answer(self) -> int:
        """The status of the answer; it is checked that the connection ends behind it."""
        received = b""
        while piece := self._socket.recv(65_536):
            received += piece
        self._answered.set()
        return int(received.split(b" ", 2)[1])

    def _drip(self) -> None:
        with contextlib.suppress(OSError):  # the other side has ended the connection
            while not self._answered.wait(DRIP_SECONDS):
                self._socket.sendall(b"x")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends connections."""
    with ExitStack() as entered:
        yield entered


@pytest.fixture(scope="module")
def function(request: pytest.FixtureRequest) -> Iterator[FunctionProcess]:
    """The function that the test names, with two places."""
    with FunctionProcess(request.param, THREADS=str(THREADS), SENDGRID_WEBHOOK_KEY="") as process:
        yield process


JSON: Final = "Content-Type: application/json"


@pytest.mark.parametrize(
    ("function", "path", "headers", "status"),
    [
        ("sendEventRecap", "/", (JSON,), 401),
        ("sendEventRecap", "/", (JSON, "Authorization: Bearer x"), 401),
        ("sendEventRecap", "/", (JSON, "OF STAFF"), 408),
        ("getEmailPreferences", "/", (JSON,), 408),
        ("getEmailPreferences", "/robots.txt", (JSON,), 404),
        ("unsubscribe", "/", (), 408),
        ("mailEvents", "/", (), 403),
    ],
    indirect=["function"],
)
def test_a_body_that_drips_gives_its_place_back(
    stack: ExitStack, function: FunctionProcess, path: str, headers: tuple[str, ...], status: int
) -> None:
    """A stranger is refused by the headers, staff after five seconds; and the connection ends."""
    given = [
        f"Authorization: Bearer {token_of_staff()}" if header == "OF STAFF" else header
        for header in headers
    ]
    dripping = [Dripping(function.port, stack, *given, path=path) for _ in range(THREADS)]
    assert [connection.answer() for connection in dripping] == [status] * THREADS
    assert function.post(b"", {}) is not None, "the places are free again"
