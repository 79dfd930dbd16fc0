"""Bodies far beyond any limit: they are refused, and the memory of all who share it stays free.

Cloud Run lets 32 MB through. The bodies here go to a real runtime over a real socket.
"""

import http.client
import json
import select
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from http import HTTPStatus
from typing import Any, Final

import psutil
import pytest

from emulator.accounts import sign_in
from tests.suite.call import fetch, url
from tests.suite.process import FunctionProcess

BODY_BYTES: Final = 31_000_000
AT_ONCE: Final = 20
_PIECE: Final = b"x" * 65_536
_MEGABYTE: Final = 1_000_000
_SECONDS: Final = 60


@pytest.fixture(
    scope="module", params=["getEmailPreferences", "sendEventRecap", "unsubscribe", "mailEvents"]
)
def served(request: pytest.FixtureRequest) -> Iterator[FunctionProcess]:
    """Start an anonymous callable, one for staff, one for forms, and the one for SendGrid."""
    with FunctionProcess(request.param, THREADS=str(AT_ONCE)) as process:
        process.post(b"{}", {"Content-Type": "application/json"})  # it is warm
        yield process


def memory(process: FunctionProcess) -> float:
    """Resident megabytes of the runtime and its workers."""
    root = psutil.Process(process.pid)
    return sum(process.memory_info().rss for process in (root, *root.children())) / _MEGABYTE


def is_sent(connection: socket.socket, piece: bytes) -> bool:
    """Return whether the piece was sent before the response arrived.

    The service may stop reading after the response, and a client that ignores the response waits.
    """
    left = memoryview(piece)
    while left:
        readable, _, _ = select.select([connection], [connection], [], _SECONDS)
        if readable:
            return False
        left = left[connection.send(left) :]
    return True


def send(port: int, *, chunked: bool) -> int | None:
    """Send one body and return the status, or None if the connection ended before the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.putrequest("POST", "/")
        connection.putheader("Content-Type", "application/x-www-form-urlencoded")
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
        else:
            connection.putheader("Content-Length", str(BODY_BYTES))
        connection.endheaders()
        piece = b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE) if chunked else _PIECE
        pieces = [piece] * (BODY_BYTES // len(_PIECE)) + [b"0\r\n\r\n"] * chunked
        for piece in pieces:
            if not is_sent(connection.sock, piece):
                break
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


@pytest.mark.parametrize("chunked", [False, True])
def test_long_bodies_use_no_memory(served: FunctionProcess, chunked: bool) -> None:
    """Twenty long bodies at once, with right and wrong lengths, take less than 40 MB."""
    before = memory(served)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        sent = [threads.submit(send, served.port, chunked=chunked) for _ in range(AT_ONCE)]
        peak = before
        while wait(sent, timeout=0.05).not_done:
            peak = max(peak, memory(served))
    assert {future.result() for future in sent} <= {400, 401, 403, 413, None}
    assert peak - before < 40
    still = served.post(b"{}", {"Content-Type": "application/json"})
    assert still in (400, 401, 403), "it still answers"


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("function", "signed_in", "status"),
    [
        ("getEmailPreferences", False, 400),
        ("sendEventRecap", False, 401),
        ("sendEventRecap", True, 400),
    ],
)
def test_a_client_that_is_still_sending_gets_the_response(
    function: str, signed_in: bool, status: int, chunked: bool
) -> None:
    """Design 3.6: the front end also gets the response. Without one it answers 500."""
    headers = {"Content-Type": "application/json"}
    if signed_in:
        headers["Authorization"] = f"Bearer {sign_in('admin', 'tenant').id_token}"
    # The connection's buffers hold the body, so a busy machine does not interrupt the client.
    pieces = [b'{"data":"', *[_PIECE] * 16, b'"}']
    body: Any = iter(pieces) if chunked else b"".join(pieces)
    answered, text, _ = fetch(url(function), body, headers)
    error = json.loads(text)["error"]
    assert answered == status
    assert ("at most" in error["message"]) == (status == HTTPStatus.BAD_REQUEST)
