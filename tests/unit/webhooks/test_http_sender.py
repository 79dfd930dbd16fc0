"""Design 3: the deadline, the address check and the connections, against receivers that mean harm.

Every receiver here is a real TLS server on loopback that does one thing wrong.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from emulator import certificates
from functions.webhooks.endpoints.endpoint_url import EndpointUrl
from functions.webhooks.endpoints.http_sender import HttpSender
from functions.webhooks.ports import SendError

DEADLINE: Final = 0.5  # seconds; the service's own 5 would only make the tests slow
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
    handler: Handler, *, names: Sequence[str] = ("localhost", "127.0.0.1")
) -> Iterator[Server]:
    """Serve TLS with a certificate for `names` on 127.0.0.1."""
    with plain_serving(lambda raw, server: _serve_tls(raw, server, handler, names)) as server:
        yield server


def _serve_tls(raw: socket.socket, server: Server, handler: Handler, names: Sequence[str]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.issue(names))
    with context.wrap_socket(raw, server_side=True) as connection:
        while request := read_request(connection):
            server.requests.append(request)
            handler(connection)


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
            thread = threading.Thread(target=one, args=(raw,))
            server.threads.append(thread)
            thread.start()

    def one(raw: socket.socket) -> None:
        with suppress(OSError), raw:
            handle(raw, server)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(port=listener.getsockname()[1])
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
    acceptor.join()
    for raw in open_connections:
        with suppress(OSError):
            raw.shutdown(socket.SHUT_RDWR)
    for thread in server.threads:
        thread.join(timeout=10)
        assert not thread.is_alive(), "the sender has left a connection open"


def trusting() -> ssl.SSLContext:
    """Trust this project's local certificate authority, as the emulator suite does."""
    certificates.ensure()
    return ssl.create_default_context(cafile=certificates.CA)


@contextmanager
def sending(*, allow_loopback: bool = True, resolve: Any = None) -> Iterator[HttpSender]:
    """A sender with a short deadline, closed in the end."""
    sender = HttpSender(
        trusting(), allow_loopback=allow_loopback, resolve=resolve, timeout_seconds=DEADLINE
    )
    try:
        yield sender
    finally:
        sender.close()


def post(sender: HttpSender, port: int, host: str = "localhost", path: str = "/") -> int:
    """Post once; the status."""
    return sender.post(EndpointUrl(host, port, path), {"Wall-Delivery-Id": "d1"}, BODY).status


def failure(handler: Handler, **options: Any) -> tuple[str, Server]:
    """Why a post to such a receiver failed, and what the receiver saw."""
    with serving(handler, **options) as server, sending() as sender:
        began = time.monotonic()
        with pytest.raises(SendError) as raised:
            post(sender, server.port)
        # Not a measurement: without a total deadline these receivers hold on for ever.
        assert time.monotonic() - began < DEADLINE * 6
        return str(raised.value), server


def answers(head: bytes) -> Handler:
    """Answer every request so."""
    return lambda connection: connection.sendall(head)


def drip(data: bytes) -> Handler:
    """Send `data` for ever, a byte at a time: each arrives well within a socket's time-out."""

    def handler(connection: ssl.SSLSocket) -> None:
        while True:
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


@pytest.mark.parametrize("status", [200, 204, 301, 302, 307, 308, 400, 410, 429, 500, 503])
def test_the_status_is_the_answer(status: int) -> None:
    """Spec 4.3: a redirect is an answer like any other and is not followed."""
    head = f"HTTP/1.1 {status} X\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with serving(answers(head.encode())) as server, sending() as sender:
        assert post(sender, server.port) == status
        assert len(server.requests) == 1


def test_the_request_is_what_was_asked_for() -> None:
    """One request line, Host with its port, the headers, and the body byte for byte."""
    with serving(answers(OK)) as server, sending() as sender:
        post(sender, server.port, path="/hook?a=1")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?a=1 HTTP/1.1"
    assert f"Host: localhost:{server.port}" in lines
    assert f"Content-Length: {len(BODY)}" in lines
    assert "Wall-Delivery-Id: d1" in lines
    assert body == BODY


def test_a_connection_is_kept_for_the_next_delivery() -> None:
    """One handshake serves many deliveries."""
    with serving(answers(OK)) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(5)] == [200] * 5
        assert (server.connections, len(server.requests)) == (1, 5)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",  # and never the rest
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
    ],
)
def test_a_connection_that_cannot_be_kept_is_not(answer: bytes) -> None:
    """The answer counts all the same, and the next delivery shakes hands anew."""
    with serving(answers(answer)) as server, sending() as sender:
        assert [post(sender, server.port) for _ in range(2)] == [200] * 2
        assert server.connections == 2


def test_a_connection_that_the_receiver_closed_is_replaced() -> None:
    """An idle connection's end is seen before anything is sent on it."""

    def once(connection: ssl.SSLSocket) -> None:
        connection.sendall(OK)
        connection.shutdown(socket.SHUT_RDWR)

    with serving(once) as server, sending() as sender:
        assert post(sender, server.port) == 200
        for thread in server.threads:
            thread.join()
        assert post(sender, server.port) == 200
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "handler",
    [
        silence,
        drip(b"HTTP/1.1 200 OK\r\nX-Slow: "),
        drip(b"HTTP/1.1 100 Continue\r\n\r\n"),
        flood(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["silent", "slow headers", "slow continues", "endless continues"],
)
def test_the_deadline_is_total(handler: Handler) -> None:
    """Design 3: five seconds for all of it, also against a receiver that drips bytes."""
    reason, server = failure(handler)
    assert reason == f"no answer within {DEADLINE} s"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "endless",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_an_endless_body_is_not_read(endless: bytes) -> None:
    """Spec 4.3: the response body is not used; the status has come, and that is all."""

    def handler(connection: ssl.SSLSocket) -> None:
        connection.sendall(endless)
        while True:
            connection.sendall(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")

    with serving(handler) as server, sending() as sender:
        assert post(sender, server.port) == 200


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"\x00" * 100 + b"\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_an_answer_that_is_not_http(answer: bytes) -> None:
    """Nonsense is a failed attempt, and does not fail the worker."""
    assert failure(answers(answer))[0] == "the answer is not HTTP"


def reset(connection: ssl.SSLSocket) -> None:
    """Drop the connection with a TCP reset."""
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    socket.socket.close(connection)


def half(connection: ssl.SSLSocket) -> None:
    """Send half a status line and reset."""
    connection.sendall(b"HTTP/1.1 20")
    reset(connection)


@pytest.mark.parametrize("handler", [reset, half])
def test_a_reset_in_the_middle(handler: Handler) -> None:
    """The attempt fails once; it is not quietly made again."""
    reason, server = failure(handler)
    # Half a line that the reset did not overtake looks like an answer that is none.
    assert reason in ("the connection was closed before the answer", "the answer is not HTTP")
    assert len(server.requests) == 1


def test_tls_that_never_finishes() -> None:
    """A server that accepts and then says nothing."""
    with (
        plain_serving(lambda raw, _: read_until_end(raw)) as server,
        sending() as sender,
        pytest.raises(SendError, match="no answer within"),
    ):
        post(sender, server.port)


def read_until_end(raw: socket.socket) -> None:
    """Take what comes, answer nothing."""
    while raw.recv(65536):
        pass


def test_no_tls_at_all() -> None:
    """A plain HTTP server on the port."""

    def plain(raw: socket.socket, _: Server) -> None:
        raw.recv(65536)
        raw.sendall(OK)

    with (
        plain_serving(plain) as server,
        sending() as sender,
        pytest.raises(SendError, match="the TLS handshake failed"),
    ):
        post(sender, server.port)


def test_a_certificate_for_another_name() -> None:
    """The name in the URL is the one that counts, not the address connected to."""
    reason, server = failure(answers(OK), names=["other.example.com"])
    assert reason.startswith("the certificate is not valid")
    assert server.requests == []


def test_a_certificate_of_nobody() -> None:
    """A certificate that none of the trusted authorities has signed."""
    with serving(answers(OK)) as server:
        sender = HttpSender(
            ssl.create_default_context(), allow_loopback=True, timeout_seconds=DEADLINE
        )
        with pytest.raises(SendError, match="the certificate is not valid"):
            post(sender, server.port)
        sender.close()
        assert server.requests == []


def test_nobody_listens() -> None:
    """A refused connection."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with sending() as sender, pytest.raises(SendError, match="refused"):
        post(sender, port)


def addresses(*found: str) -> Callable[[str, int], list[tuple[socket.AddressFamily, Any]]]:
    """A name server that answers so."""
    return lambda _, port: [
        (socket.AF_INET6, (one, port, 0, 0)) if ":" in one else (socket.AF_INET, (one, port))
        for one in found
    ]


@pytest.mark.parametrize(
    "found",
    [
        ["127.0.0.1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1", "8.8.8.8"],
    ],
)
def test_a_name_that_resolves_to_an_address_that_is_not_public(found: list[str]) -> None:
    """Design 3: every address of the name is checked, and one bad one fails the attempt."""
    with serving(answers(OK)) as server:
        with (
            sending(allow_loopback=False, resolve=addresses(*found)) as sender,
            pytest.raises(SendError, match="not a public one"),
        ):
            post(sender, server.port)
        assert server.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "::1"])
def test_a_url_that_names_this_machine(host: str) -> None:
    """However it is spelt, with the system's own resolver."""
    with serving(answers(OK)) as server:
        with (
            sending(allow_loopback=False) as sender,
            pytest.raises(SendError, match="not a public one"),
        ):
            post(sender, server.port, host)
        assert server.connections == 0


def test_a_name_that_changes_its_answer() -> None:
    """Design 3: the address that was checked is the one connected to; there is no second look."""
    asked = []

    def rebinding(_: str, port: int) -> list[tuple[socket.AddressFamily, Any]]:
        asked.append(port)
        return addresses("127.0.0.1" if len(asked) == 1 else "127.0.0.2")("", port)

    with serving(answers(OK)) as server, sending(resolve=rebinding) as sender:
        assert post(sender, server.port) == 200
        assert (len(asked), server.connections) == (1, 1)


def test_a_name_server_that_never_answers() -> None:
    """The look-up of the name counts into the deadline."""
    released = threading.Event()

    def stuck(_: str, __: int) -> list[Any]:
        released.wait(30)
        return []

    with sending(resolve=stuck) as sender:
        with pytest.raises(SendError, match="no answer within"):
            post(sender, 1)
        released.set()


def test_a_name_that_does_not_exist() -> None:
    """A failed attempt, with its reason."""

    def unknown(_: str, __: int) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with sending(resolve=unknown) as sender, pytest.raises(SendError, match="does not resolve"):
        post(sender, 1)


def test_the_next_address_is_tried_where_one_refuses() -> None:
    """A name with several addresses, the first of which is down."""
    with (
        serving(answers(OK)) as server,
        sending(resolve=addresses("127.0.0.3", "127.0.0.1")) as sender,
    ):
        assert post(sender, server.port) == 200


def test_eighty_at_once_share_nothing_and_keep_their_connections() -> None:
    """An instance's threads: 80 connections in the first round, and the same 80 in the second."""
    together = threading.Barrier(80)

    def slow(connection: ssl.SSLSocket) -> None:
        together.wait(30)
        connection.sendall(OK)

    with serving(slow) as server:
        sender = HttpSender(trusting(), allow_loopback=True, timeout_seconds=30)
        with ThreadPoolExecutor(80) as threads:
            for _ in range(2):
                statuses = threads.map(lambda _: post(sender, server.port), range(80))
                assert list(statuses) == [200] * 80
        sender.close()
        assert (server.connections, len(server.requests)) == (80, 160)
