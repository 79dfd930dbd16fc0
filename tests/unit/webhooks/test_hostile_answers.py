"""Spec 8: real TLS receivers whose answers are too long or come unasked."""

import gc
import select
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from functions.webhooks.sender import adapter
from functions.webhooks.worker import SendError
from tests.unit.webhooks.tls_receivers import (
    OK,
    answers,
    flood,
    post,
    sending,
    serving,
    unreached,
)

LINE = b"HTTP/1.1 200 OK\r\nX: "
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HINTS = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (b"", CONTINUE),
        (b"", CONTINUE * 100),
        (b"", HINTS * 100),
        (LINE, b"y"),
        (LINE, b"y" * 65_000 + b"\r\nX: "),
        (LINE, b"y\r\nX: "),
    ],
)
def test_the_size_of_a_head_is_limited(begins: bytes, goes_on: bytes) -> None:
    """Count the whole head, including interim answers."""

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(begins)
        flood(goes_on)(connection)

    with (
        serving(handler) as server,
        sending(timeout=60) as sender,
        pytest.raises(SendError, match="head is longer than 32 KB"),
    ):
        post(sender, server.port)


def test_the_size_of_a_handshake_is_limited() -> None:
    """OpenSSL stops at 100 KiB, here of certificates."""
    names = ["localhost", *(f"{'a' * 58}{number}.example.com" for number in range(2000))]
    with serving(answers(OK), names=names) as server, sending(timeout=60) as sender:
        assert unreached(sender, server.port) == "the TLS handshake failed"


EVIL = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"


def padded(size: int) -> bytes:
    """Return an answer of `size` bytes with its body."""
    bare = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: \r\n\r\nok"
    return bare.replace(b"X: ", b"X: " + b"y" * (size - len(bare)))


@pytest.mark.parametrize("size", [100, 8192, 16_384])
def test_a_second_answer_is_not_used_for_the_next_request(size: int) -> None:
    """Send it directly after the first, in the same TLS record or in the next."""

    def ahead(connection: ssl.SSLSocket) -> None:
        connection.sendall(padded(size) + EVIL)

    with serving(ahead) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(3)] == [200, 200, 200]


def test_an_answer_on_an_idle_connection_is_not_used() -> None:
    """Close a connection that received data while it was idle."""
    taken, sent = threading.Semaphore(0), threading.Semaphore(0)

    def later(connection: ssl.SSLSocket) -> None:
        connection.sendall(OK)
        assert taken.acquire(timeout=60)
        connection.sendall(EVIL)
        sent.release()

    with serving(later) as server, sending() as sender:
        for _ in range(2):
            assert post(sender, server.port) == 200
            taken.release()
            assert sent.acquire(timeout=60)
            [kept] = {found.sock for found in sender.adapter.watch.watched}
            assert select.select([kept], [], [], 60)[0]
        assert server.connections == 2


class Clock:
    """A monotonic clock that a test can advance."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return time.monotonic() + self.ahead


def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close each after a minute, and the longest idle ones earlier if many are open."""
    together, ended = threading.Barrier(5), threading.Semaphore(0)
    monkeypatch.setattr(adapter, "OPEN_AT_MOST", 2)
    clock = Clock()

    def keep(connection: ssl.SSLSocket) -> None:
        together.wait(60)
        connection.sendall(OK)
        if connection.recv(1) == b"":
            ended.release()

    with (
        serving(keep) as server,
        sending(monotonic=clock, timeout=60) as sender,
        ThreadPoolExecutor(5) as threads,
    ):
        assert list(threads.map(lambda _: post(sender, server.port), range(5))) == [200] * 5
        for _ in range(3):
            assert ended.acquire(timeout=60)
        assert not ended.acquire(blocking=False)
        clock.ahead = 61
        assert ended.acquire(timeout=60)
        assert ended.acquire(timeout=60)


def test_closed_connections_use_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect to more receivers than connections may stay open."""
    monkeypatch.setattr(adapter, "OPEN_AT_MOST", 4)
    names = [f"{number}.example.com" for number in range(12)]
    with (
        serving(answers(OK), names=names) as server,
        sending(resolve=lambda *_: ["127.0.0.1"]) as sender,
    ):
        assert [post(sender, server.port, name) for name in names] == [200] * 12
        gc.collect()
        kept = [each for each in gc.get_objects() if isinstance(each, adapter.PinnedConnection)]
        assert set(kept) == sender.adapter.watch.watched
        assert len(kept) <= 4


def test_a_connection_close_to_its_timeout_is_not_used() -> None:
    """It would be closed during the attempt."""
    clock = Clock()
    with serving(answers(OK)) as server, sending(monotonic=clock) as sender:
        assert post(sender, server.port) == 200
        clock.ahead = adapter.IDLE_SECONDS - 0.4
        assert post(sender, server.port) == 200
        assert server.connections == 2


def test_a_connection_that_cannot_be_closed_does_not_affect_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keep closing the other connections, and later ones."""
    failed, ended = threading.Event(), threading.Event()
    close = adapter.PinnedConnection.close
    clock = Clock()

    def close_or_fail(connection: adapter.PinnedConnection) -> None:
        if connection.host == "b.example.com":
            close(connection)
        else:
            failed.set()
            raise OSError

    def keep(connection: ssl.SSLSocket) -> None:
        connection.sendall(OK)
        if connection.recv(1) == b"":
            ended.set()

    monkeypatch.setattr(adapter.PinnedConnection, "close", close_or_fail)
    with (
        serving(keep, names=["a.example.com", "b.example.com"]) as server,
        sending(resolve=lambda *_: ["127.0.0.1"], monotonic=clock) as sender,
    ):
        assert post(sender, server.port, "a.example.com") == 200
        clock.ahead = 61
        assert failed.wait(60)
        assert post(sender, server.port, "b.example.com") == 200
        clock.ahead = 122
        assert ended.wait(60)
        monkeypatch.undo()  # so that the sender can close the other connection
