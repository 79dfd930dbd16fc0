"""Spec 7: how long a body may take, and what becomes of one that nobody waits for."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from functions.gcp import request_body
from functions.gcp.request_body import TimedBody

SECONDS = 0.2


class Sent:
    """A body of so many bytes, as gunicorn reads it off its connection."""

    def __init__(self, connection: socket.socket, length: int) -> None:
        self._connection = connection
        self._left = length

    def read(self, size: int) -> bytes:
        """As many bytes, or those that are left."""
        wanted = min(size, self._left)
        found = b""
        while len(found) < wanted and (piece := self._connection.recv(wanted - len(found))):
            found += piece
        self._left -= len(found)
        return found


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's end and the service's, with a short deadline."""
    monkeypatch.setattr(request_body, "FIRST_SECONDS", SECONDS)
    client, server = socket.socketpair()
    with client, server:
        yield client, server


@pytest.mark.parametrize("limit", [40_000, 100])
def test_a_long_body_has_longer(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """The bytes that have come extend the deadline, as far as the function's limit goes."""
    monkeypatch.setattr(request_body, "BYTES_A_SECOND", 10_000)
    client, server = sockets
    come = threading.Event()

    def send() -> None:
        client.sendall(b"x" * 20_000)
        come.wait(3 * SECONDS)
        with contextlib.suppress(OSError):  # the service waits no longer
            client.sendall(b"x" * 20_000)

    sending = threading.Thread(target=send)
    sending.start()
    body = TimedBody(Sent(server, 40_000), server, timed_bytes=limit)
    assert (len(body.read()), body.late) == ((20_000, True) if limit == 100 else (40_000, False))
    server.close()
    sending.join()


def test_nobody_waits_for_a_refused_body(sockets: tuple[socket.socket, socket.socket]) -> None:
    """A body that has come leaves its connection usable, another one ends it."""
    client, server = sockets
    client.sendall(b"x" * 100)
    whole = TimedBody(Sent(server, 100), server)
    whole.refuse()
    assert not whole.late
    client.sendall(b"x" * 100)
    half = TimedBody(Sent(server, 1000), server)
    half.refuse()
    assert half.late
    assert half.read() == b""


def test_a_body_that_has_come_whole_is_not_late(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    """However long the function works with it: its connection serves the next request."""
    client, server = sockets
    client.sendall(b"x" * 100)
    body = TimedBody(Sent(server, 100), server, length=100)
    assert len(body.read(100)) == 100
    body.end()
    client.sendall(b"next")
    assert (body.late, server.recv(4)) == (False, b"next")
