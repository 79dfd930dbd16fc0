"""A body that drips: under gunicorn with its real threads, against the real `main.py`."""

import contextlib
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus
from typing import Final

import pytest

from emulator.accounts import sign_in
from tests.suite.process import FunctionProcess

THREADS: Final = 2
_SECONDS: Final = 60
"""How long an answer is waited for, on the busiest machine."""

DRIP_SECONDS: Final = 0.5
DRIP: Final = b'{"data": {"eventId": "'


class Dripping:
    """A connection that sends headers, the beginning of a body, and then one byte at a time."""

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
        """Return the status of the response, and check that the connection ends after it."""
        received = b""
        with contextlib.suppress(ConnectionResetError):  # some byte came behind the end
            while piece := self._socket.recv(65_536):
                received += piece
        self._answered.set()
        head, _, body = received.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status == HTTPStatus.BAD_REQUEST:
            assert b"within 6 seconds" in body
        if body.startswith(b"{"):
            assert b"Access-Control-Allow-Origin: *" in head
        return status

    def _drip(self) -> None:
        with contextlib.suppress(OSError):  # the other side has ended the connection
            while not self._answered.wait(DRIP_SECONDS):
                self._socket.sendall(b"x")


JSON: Final = "Content-Type: application/json"
STAFF: Final = "Authorization: Bearer {}"
"""With the ID token of an admin."""

ANSWERS: Final[dict[str, dict[tuple[str, tuple[str, ...]], int]]] = {
    "sendEventRecap": {
        ("/", (JSON,)): 401,
        ("/", (JSON, "Authorization: Bearer x")): 401,
        ("/", (JSON, STAFF)): 400,
    },
    "getEmailPreferences": {("/", (JSON,)): 400, ("/robots.txt", (JSON,)): 404},
    "unsubscribe": {("/", ()): 400},
    "mailEvents": {("/", ()): 403},
}
"""The status of each answer, by function, path and headers."""


def answered(function: str) -> list[list[int]]:
    """Return the responses to slow bodies, which occupy both places of the function each time."""
    token = sign_in("admin", "acme").id_token
    with FunctionProcess(function, THREADS=str(THREADS), SENDGRID_WEBHOOK_KEY="") as process:
        found = []
        for path, headers in ANSWERS[function]:
            with ExitStack() as stack:
                dripping = [
                    Dripping(
                        process.port, stack, *(line.format(token) for line in headers), path=path
                    )
                    for _ in range(THREADS)
                ]
                found.append([connection.answer() for connection in dripping])
            assert process.post(b"", {}) is not None, "the places are free again"
        return found


def test_a_dripping_body_is_ended_and_frees_its_slot() -> None:
    """Refuse a stranger after the headers and others after six seconds."""
    with ThreadPoolExecutor(len(ANSWERS)) as functions:
        found = dict(zip(ANSWERS, functions.map(answered, ANSWERS), strict=True))
    assert found == {
        function: [[status] * THREADS for status in answers.values()]
        for function, answers in ANSWERS.items()
    }


@pytest.mark.parametrize(
    ("function", "method", "status"),
    [
        ("getEmailPreferences", "POST", b"400"),
        ("getEmailPreferences", "OPTIONS", b"200"),
        ("unsubscribe", "POST", b"400"),
    ],
)
def test_a_malformed_chunk_is_rejected_with_400(function: str, method: str, status: bytes) -> None:
    """Spec 7: the log reports no fault of the service, even if the body is not needed."""
    head = [f"{method} / HTTP/1.1", "Host: wall", JSON, "Transfer-Encoding: chunked", "", ""]
    with FunctionProcess(function, THREADS=str(THREADS)) as process:
        with socket.create_connection(("127.0.0.1", process.port), _SECONDS) as connection:
            connection.sendall("\r\n".join(head).encode() + b"no size\r\n")
            assert connection.recv(65_536).split(b" ", 2)[1] == status
        assert "ERROR" not in process.stop_and_read_output()
        assert "Traceback" not in process.stop_and_read_output()
