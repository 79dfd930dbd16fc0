"""Spec 8: receivers that answer more than anybody asked for, each a real TLS server."""

import os
import select
import ssl
import subprocess
import sys
import threading
import time

import pytest

from functions.webhooks.sender.ports import SendError
from tests.unit.webhooks.tls_receivers import (
    OK,
    Handler,
    answers,
    flood,
    post,
    sending,
    serving,
    unreached,
)

MEGABYTE = 1_000_000
LINES = b"".join(b"X-%d: " % number + b"y" * 65_000 + b"\r\n" for number in range(90))


def complete(connection: ssl.SSLSocket) -> None:
    """A head of 6 MB, as `http.client` would take it, in one piece."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + LINES + b"Content-Length: 0\r\n\r\n")


def without_end(connection: ssl.SSLSocket) -> None:
    """The same without its end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + LINES)
    connection.recv(1)


@pytest.mark.parametrize("handler", [complete, without_end])
def test_eighty_endless_heads_take_little_memory(handler: Handler) -> None:
    """An instance has 512 MB, and others' deliveries are in it."""

    def chosen(connection: ssl.SSLSocket) -> None:
        if server.requests[-1].startswith(b"POST /ok "):
            connection.sendall(OK)
        else:
            handler(connection)

    with serving(chosen) as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.unit.webhooks.post_together", str(server.port), "20"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | {"MALLOC_ARENA_MAX": "1"},
        )
    assert done.returncode == 0, done.stderr
    used, _, outcomes = done.stdout.partition(" ")
    assert int(used) < 60 * MEGABYTE
    assert outcomes == 'Counter({"the answer\'s head is longer than 32 KB": 80})\n'


@pytest.mark.parametrize("continues", [1, 100])
def test_continues_without_end_cost_little(continues: int) -> None:
    """The whole head is counted, interim answers included, and so is what it costs to read."""
    with (
        serving(flood(b"HTTP/1.1 100 Continue\r\n\r\n" * continues)) as server,
        sending(timeout=10) as sender,
    ):
        began = time.thread_time()
        with pytest.raises(SendError, match="head is longer than 32 KB"):
            post(sender, server.port)
        assert time.thread_time() - began < 0.5


def test_a_certificate_without_end() -> None:
    """The bytes of a handshake are bounded, too: by OpenSSL, at 100 KiB."""
    names = ["localhost", *(f"{'a' * 58}{number}.example.com" for number in range(2000))]
    with serving(answers(OK), names=names) as server, sending(timeout=10) as sender:
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
        assert server.connections == 3


def test_an_answer_sent_a_little_later_is_nobodys() -> None:
    """What comes while a connection waits is not the next delivery's answer."""
    sent = threading.Semaphore(0)

    def later(connection: ssl.SSLSocket) -> None:
        connection.sendall(OK)
        connection.sendall(EVIL)
        sent.release()

    with serving(later) as server, sending() as sender:
        for _ in range(2):
            assert post(sender, server.port) == 200
            assert sent.acquire(timeout=10)
            [kept] = [found for found in sender._adapter._watch.open if found.is_idle]  # noqa: SLF001 - what is sent may come late
            assert select.select([kept], [], [], 10)[0]
        assert server.connections == 2


class Clock:
    """The time, put forward by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return time.monotonic() + self.ahead


def test_a_kept_connection_gets_old() -> None:
    """One in steady use lives for five minutes: then the name is looked up anew."""
    clock = Clock()
    with serving(answers(OK)) as server, sending(monotonic=clock) as sender:
        for minute in range(12):
            clock.ahead = minute * 50
            assert post(sender, server.port) == 200
            assert server.connections == 1 + minute // 6


def test_an_idle_connection_gets_old() -> None:
    """After a minute without a delivery nobody knows what has become of it."""
    clock = Clock()
    with serving(answers(OK)) as server, sending(monotonic=clock) as sender:
        for clock.ahead, connections in ((0, 1), (59, 1), (120, 2)):
            assert post(sender, server.port) == 200
            assert server.connections == connections


def test_a_clock_that_has_just_begun() -> None:
    """A fresh machine's monotonic clock starts at zero."""
    began = time.monotonic()
    with (
        serving(answers(OK)) as server,
        sending(monotonic=lambda: time.monotonic() - began) as sender,
    ):
        assert [post(sender, server.port) for _ in range(2)] == [200, 200]
        assert server.connections == 1
