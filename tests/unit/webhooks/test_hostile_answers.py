"""Spec 8: receivers that answer more than anybody asked for, each a real TLS server."""

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
def test_a_head_without_end_is_not_read_on(begins: bytes, goes_on: bytes) -> None:
    """The whole head is counted, interim answers included."""

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(begins)
        flood(goes_on)(connection)

    with (
        serving(handler) as server,
        sending(timeout=60) as sender,
        pytest.raises(SendError, match="head is longer than 32 KB"),
    ):
        post(sender, server.port)


def test_a_certificate_without_end() -> None:
    """The bytes of a handshake are bounded, too: by OpenSSL, at 100 KiB."""
    names = ["localhost", *(f"{'a' * 58}{number}.example.com" for number in range(2000))]
    with serving(answers(OK), names=names) as server, sending(timeout=60) as sender:
        assert unreached(sender, server.port) == "the TLS handshake failed"


EVIL = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"


def padded(size: int) -> bytes:
    """An answer of `size` bytes, its body included."""
    bare = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: \r\n\r\nok"
    return bare.replace(b"X: ", b"X: " + b"y" * (size - len(bare)))


@pytest.mark.parametrize("size", [100, 8192, 16_384])
def test_an_answer_sent_ahead_is_nobodys(size: int) -> None:
    """A second answer right behind the first, in one TLS record or the next."""

    def ahead(connection: ssl.SSLSocket) -> None:
        connection.sendall(padded(size) + EVIL)

    with serving(ahead) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(3)] == [200, 200, 200]


def test_an_answer_sent_a_little_later_is_nobodys() -> None:
    """What comes while a connection waits is not the next delivery's answer."""
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
            assert select.select([kept], [], [], 10)[0]
        assert server.connections == 2


class Clock:
    """The time, put forward by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return time.monotonic() + self.ahead


def test_idle_connections_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many are open, the longest idle connections are closed, and each after a minute."""
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


def test_closed_connections_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections to more receivers than may stay open take no memory."""
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


def test_a_connection_that_is_about_to_be_let_go_serves_no_more() -> None:
    """A connection near its end would end in the middle of an attempt."""
    clock = Clock()
    with serving(answers(OK)) as server, sending(monotonic=clock) as sender:
        assert post(sender, server.port) == 200
        clock.ahead = adapter.IDLE_SECONDS - 0.4
        assert post(sender, server.port) == 200
        assert server.connections == 2


def test_a_connection_that_cannot_be_closed_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The watch goes on with the other connections, and with those that come later."""
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
        monkeypatch.undo()  # the sender closes the other connection in the end
