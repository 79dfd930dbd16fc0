"""Real TLS servers on loopback, each with one behavior, and a sender that posts to them."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final

import pytest

from emulator import certificates
from functions.process import CLOCK
from functions.webhooks.sender.adapter import PinnedAdapter
from functions.webhooks.sender.http_sender import ConcurrencyLimit, HttpSender
from functions.webhooks.worker import SendError, Source

DEADLINE: Final = 0.5
"""Seconds, for tests in which the deadline ends the attempt at any stage."""

PATIENCE: Final = 60.0
"""Seconds, for tests in which the receiver ends the attempt, even on a busy machine."""

BODY: Final = b'{"event":"photo.uploaded"}'
OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handler = Callable[[ssl.SSLSocket], None]


@dataclass
class Server:
    """A server, with its connections and requests so far."""

    port: int
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)


def read_request(connection: ssl.SSLSocket) -> bytes:
    """Read one whole request. Return nothing at the end of the connection."""
    received = b""
    while not received.endswith(BODY):
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        received += chunk
    return received


@contextmanager
def serving(
    handler: Handler,
    *,
    names: Sequence[str] = ("localhost", "127.0.0.1"),
    settle: Callable[[ssl.SSLContext], None] = lambda _: None,
) -> Iterator[Server]:
    """Serve TLS on 127.0.0.1 with a certificate for `names`. `settle` changes the TLS context."""

    def serve(raw: socket.socket, server: Server) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.issue(names))
        settle(context)
        with context.wrap_socket(raw, server_side=True) as connection:
            while request := read_request(connection):
                server.requests.append(request)
                handler(connection)

    with plain_serving(serve) as server:
        yield server


@contextmanager
def plain_serving(handle: Callable[[socket.socket, Server], None]) -> Iterator[Server]:
    """Serve TCP on 127.0.0.1 with a thread for each connection. All threads end with the test."""
    open_connections: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                raw, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            open_connections.append(raw)
            thread = threading.Thread(target=one, args=(raw,), daemon=True)
            server.threads.append(thread)
            thread.start()

    def one(raw: socket.socket) -> None:
        with suppress(OSError), raw:
            handle(raw, server)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(port=listener.getsockname()[1])
        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for raw in open_connections:
                with suppress(OSError):
                    raw.shutdown(socket.SHUT_RDWR)
    for thread in server.threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "the sender has left a connection open"


def trusting() -> ssl.SSLContext:
    """Return a context that trusts the local certificate authority of this project."""
    certificates.ensure()
    return ssl.create_default_context(cafile=certificates.CA)


@contextmanager
def sending(
    *,
    allow_loopback: bool = True,
    resolve: Callable[[str, float], Sequence[str]] | None = None,
    of_an_event: int = 80,
    of_a_tenant: int = 80,
    monotonic: Callable[[], float] = time.monotonic,
    timeout: float = PATIENCE,
) -> Iterator[HttpSender]:
    """Create a sender and close it in the end. `timeout` is the deadline of a POST in seconds."""
    clock = replace(CLOCK, monotonic=monotonic)
    sender = HttpSender(
        adapter=PinnedAdapter(trusting(), clock),
        per_event=ConcurrencyLimit(of_an_event),
        per_tenant=ConcurrencyLimit(of_a_tenant),
        clock=clock,
        may_be_loopback=allow_loopback,
        timeout_seconds=timeout,
    )
    if resolve:
        sender.resolver = SimpleNamespace(resolve=resolve)  # type: ignore[assignment]
    try:
        yield sender
    finally:
        sender.adapter.watch.close()


def post(
    sender: HttpSender,
    port: int,
    host: str = "localhost",
    path: str = "/",
    event_id: str = "e1",
    tenant_id: str = "t1",
) -> int:
    """Send one POST, and return its status."""
    source = Source(tenant_id, event_id)
    url = f"https://{host}:{port}{path}"
    return sender.post(url, {"Wall-Delivery-Id": "d1"}, BODY, source).status


def unreached(sender: HttpSender, port: int, host: str = "localhost") -> str:
    """Send one POST to a receiver that never answered, and return the logged error."""
    with pytest.raises(SendError) as raised:
        post(sender, port, host)
    assert str(raised.value).startswith("the receiver could not be reached")
    assert isinstance(raised.value.__cause__, SendError)
    return str(raised.value.__cause__)


def failure(handler: Handler, **options: Any) -> tuple[str, Server]:
    """Return the error of a POST to a receiver with this handler, and its server."""
    with serving(handler, **options) as server, sending() as sender:
        with pytest.raises(SendError) as raised:
            post(sender, server.port)
        cause = raised.value.__cause__
        return str(cause if isinstance(cause, SendError) else raised.value), server


def answers(head: bytes) -> Handler:
    """Return a handler that answers every request with `head`."""
    return lambda connection: connection.sendall(head)


def drip(data: bytes) -> Handler:
    """Return a handler that repeats `data`, a byte at a time, each before a socket's timeout."""

    def handler(connection: ssl.SSLSocket) -> None:
        until = time.monotonic() + PATIENCE  # fails the test of a sender without a total deadline
        while time.monotonic() < until:
            for byte in data:
                connection.sendall(bytes([byte]))
                time.sleep(DEADLINE / 10)

    return handler


def flood(data: bytes) -> Handler:
    """Return a handler that repeats `data` as fast as the sender reads it."""

    def handler(connection: ssl.SSLSocket) -> None:
        while True:
            connection.sendall(data)

    return handler


def silence(connection: ssl.SSLSocket) -> None:
    """Wait without an answer."""
    connection.recv(1)
