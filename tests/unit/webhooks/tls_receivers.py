"""Real TLS servers on loopback, each of which does one thing, and a sender that posts to them."""

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
"""Seconds, for tests in which the deadline ends the attempt at whatever stage it is."""

PATIENCE: Final = 60.0
"""Seconds, for tests in which the receiver ends the attempt, however busy the machine is."""

BODY: Final = b'{"event":"photo.uploaded"}'
OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handler = Callable[[ssl.SSLSocket], None]


@dataclass
class Server:
    """A TLS server whose every connection is handled by `handler`; it counts what it sees."""

    port: int
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)


def read_request(connection: ssl.SSLSocket) -> bytes:
    """One whole request; empty at the connection's end."""
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
    """Serve TLS with a certificate for `names` on 127.0.0.1; `settle` sets what else is odd."""

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
    """Serve plain TCP on 127.0.0.1; a thread for each connection, and none is left behind."""
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
    """Trust this project's local certificate authority, as the emulator suite does."""
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
    """A sender, closed in the end; `timeout` is the deadline of a POST in seconds."""
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
    """Post once; the status."""
    source = Source(tenant_id, event_id)
    url = f"https://{host}:{port}{path}"
    return sender.post(url, {"Wall-Delivery-Id": "d1"}, BODY, source).status


def unreached(sender: HttpSender, port: int, host: str = "localhost") -> str:
    """Post once to a receiver that has never answered; what the service's own log is told."""
    with pytest.raises(SendError) as raised:
        post(sender, port, host)
    assert str(raised.value).startswith("the receiver could not be reached")
    assert isinstance(raised.value.__cause__, SendError)
    return str(raised.value.__cause__)


def failure(handler: Handler, **options: Any) -> tuple[str, Server]:
    """Return why a post to such a receiver failed, and what the receiver saw."""
    with serving(handler, **options) as server, sending() as sender:
        with pytest.raises(SendError) as raised:
            post(sender, server.port)
        cause = raised.value.__cause__
        return str(cause if isinstance(cause, SendError) else raised.value), server


def answers(head: bytes) -> Handler:
    """Answer every request so."""
    return lambda connection: connection.sendall(head)


def drip(data: bytes) -> Handler:
    """Send `data` again and again, a byte at a time: each arrives before a socket's timeout."""

    def handler(connection: ssl.SSLSocket) -> None:
        until = time.monotonic() + PATIENCE  # a sender without a total deadline fails its test then
        while time.monotonic() < until:
            for byte in data:
                connection.sendall(bytes([byte]))
                time.sleep(DEADLINE / 10)

    return handler


def flood(data: bytes) -> Handler:
    """Send `data` for ever, as fast as it is taken."""

    def handler(connection: ssl.SSLSocket) -> None:
        while True:
            connection.sendall(data)

    return handler


def silence(connection: ssl.SSLSocket) -> None:
    """Never answer."""
    connection.recv(1)
