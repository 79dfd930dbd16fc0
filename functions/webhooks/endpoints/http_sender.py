"""One signed POST to a receiver that may mean harm.

Total deadline, public addresses only, no redirects, no body, and connections kept alive.

http.client reads the answer; the socket is made here, because nothing above it can promise that
the address connected to is the one that was checked, or that a deadline holds in total: the
time-outs of `requests` and `urllib3` start anew with every byte that drips in.
"""

import http.client
import select
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

from functions.webhooks.endpoints import addresses
from functions.webhooks.endpoints.addresses import SocketAddress
from functions.webhooks.endpoints.endpoint_url import EndpointUrl
from functions.webhooks.endpoints.resolver import Resolver
from functions.webhooks.ports import Response, SendError

TIMEOUT_SECONDS: Final = 5.0
"""From the look-up of the name to the last header of the answer (spec 8)."""

_DEADLINE_SLACK_SECONDS: Final = 0.05

# A short body is thrown away so that its connection can serve the next delivery; a longer or
# slower one costs more than the handshake it would save.
_DISCARD_BYTES: Final = 4096
_DISCARD_SECONDS: Final = 0.1

# Idle connections: as many to one receiver as an instance has threads, or each delivery beyond
# would shake hands anew; all together well under the instance's file descriptors.
_IDLE_PER_RECEIVER: Final = 80
_IDLE_IN_ALL: Final = 512
_IDLE_SECONDS: Final = 60.0


class _DeadlineSocket(ssl.SSLSocket):
    """A TLS socket whose every operation ends at one moment, `deadline` on the monotonic clock."""

    deadline: float

    def _spend(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        # Setting it is a system call, and hands the interpreter to another thread.
        if not left <= (self.gettimeout() or 0) <= left + _DEADLINE_SLACK_SECONDS:
            self.settimeout(left)

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 - inherited
        self._spend()
        super().do_handshake(block)

    def send(self, data: Any, flags: int = 0) -> int:
        self._spend()
        return super().send(data, flags)

    def recv_into(
        self,
        buffer: Any,
        nbytes: int | None = None,
        flags: int = 0,
    ) -> int:
        self._spend()
        return super().recv_into(buffer, nbytes, flags)


class _IdleConnections:
    """Connections that wait for the next delivery to the same host and port."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_receiver: OrderedDict[tuple[str, int], list[tuple[float, _DeadlineSocket]]] = (
            OrderedDict()
        )
        self._count = 0

    def take(self, receiver: tuple[str, int]) -> _DeadlineSocket | None:
        """The connection that was put back last, if one is still open."""
        while True:
            with self._lock:
                idle = self._by_receiver.get(receiver)
                if not idle:
                    return None
                since, connection = idle.pop()
                self._count -= 1
                if not idle:
                    del self._by_receiver[receiver]
            if time.monotonic() - since < _IDLE_SECONDS and not _readable(connection):
                return connection
            connection.close()

    def put(self, receiver: tuple[str, int], connection: _DeadlineSocket) -> None:
        """Keep an open connection with nothing left to read."""
        with self._lock:
            idle = self._by_receiver.setdefault(receiver, [])
            self._by_receiver.move_to_end(receiver)
            idle.append((time.monotonic(), connection))
            self._count += 1
            surplus = None
            if len(idle) > _IDLE_PER_RECEIVER:
                surplus = idle.pop(0)
            elif self._count > _IDLE_IN_ALL:
                oldest, waiting = next(iter(self._by_receiver.items()))
                surplus = waiting.pop(0)
                if not waiting:
                    del self._by_receiver[oldest]
            if surplus:
                self._count -= 1
        if surplus:
            surplus[1].close()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            waiting = [one for idle in self._by_receiver.values() for one in idle]
            self._by_receiver.clear()
            self._count = 0
        for _, connection in waiting:
            connection.close()


class HttpSender:
    """Posts to receivers; one instance serves all threads of the process."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        *,
        allow_loopback: bool = False,
        resolve: Resolver,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Make a sender.

        Args:
            tls: which certificates are trusted; shared, because parsing a CA bundle costs more
                than a delivery.
            allow_loopback: also send to this machine itself, for tests.
            resolve: the addresses of a host and port.
            timeout_seconds: the total deadline of one POST.
        """
        tls.sslsocket_class = _DeadlineSocket
        self._tls = tls
        self._allow_loopback = allow_loopback
        self._resolve = resolve
        self._timeout_seconds = timeout_seconds
        self._idle = _IdleConnections()

    def post(self, to: EndpointUrl, headers: Mapping[str, str], body: bytes) -> Response:
        """POST `body` once and wait for the head of the answer.

        Raises:
            SendError: no HTTP status came back in time, or the address is not public.
        """
        deadline = time.monotonic() + self._timeout_seconds
        receiver = (to.host, to.port)
        connection, answer = None, None
        try:
            connection = self._idle.take(receiver) or self._connect(to, deadline)
            connection.deadline = deadline
            connection.sendall(_head(to, headers, len(body)) + body)
            answer = http.client.HTTPResponse(connection, method="POST")
            answer.begin()
        except (OSError, http.client.HTTPException, ValueError) as error:
            _close(connection, answer)
            raise SendError(_reason(error, self._timeout_seconds)) from error
        if _discard(answer, connection):
            self._idle.put(receiver, connection)
        else:
            _close(connection, answer)
        return Response(answer.status)

    def close(self) -> None:
        """Close the idle connections."""
        self._idle.close()

    def _connect(self, to: EndpointUrl, deadline: float) -> _DeadlineSocket:
        candidates = self._resolve(to.host, to.port, _left(deadline))
        for _, socket_address in candidates:
            self._check(socket_address[0])
        plain = _first_to_accept(candidates, deadline)
        try:
            connection = self._tls.wrap_socket(
                plain, server_hostname=to.host, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            plain.close()
            raise
        assert isinstance(connection, _DeadlineSocket)  # noqa: S101 - for the type checker
        try:
            connection.deadline = deadline
            connection.do_handshake()
        except (OSError, ValueError):
            connection.close()
            raise
        return connection

    def _check(self, address: str) -> None:
        if addresses.is_public(address):
            return
        if self._allow_loopback and addresses.is_loopback(address):
            return
        raise SendError("the host's address is not a public one")


def _first_to_accept(candidates: Sequence[SocketAddress], deadline: float) -> socket.socket:
    """Connect to the first address that accepts; each gets an equal share of the time left."""
    error: OSError = socket.gaierror("no address")
    for index, (family, socket_address) in enumerate(candidates):
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(_left(deadline) / (len(candidates) - index))
            connection.connect(socket_address)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as refused:
            connection.close()
            error = refused
        else:
            return connection
    raise error


def _head(to: EndpointUrl, headers: Mapping[str, str], body_bytes: int) -> bytes:
    lines = [f"POST {to.path} HTTP/1.1", f"Host: {to.authority}", f"Content-Length: {body_bytes}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _discard(answer: http.client.HTTPResponse, connection: _DeadlineSocket) -> bool:
    """Read a short body away; whether the connection can be used again."""
    if answer.will_close:
        return False
    connection.deadline = min(connection.deadline, time.monotonic() + _DISCARD_SECONDS)
    try:
        answer.read(_DISCARD_BYTES)
    except (OSError, http.client.HTTPException, ValueError):
        return False
    return answer.isclosed()


def _close(connection: socket.socket | None, answer: http.client.HTTPResponse | None) -> None:
    """Close both: a socket stays open while an answer that reads from it is."""
    if answer:
        answer.close()
    if connection:
        connection.close()


def _readable(connection: socket.socket) -> bool:
    """Whether an idle connection has something to read: its end, or what nobody asked for."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _reason(error: Exception, timeout_seconds: float) -> str:  # noqa: PLR0911 - a table
    """What happened, in words that hold nothing of the request or the answer."""
    match error:
        case TimeoutError():
            return f"no answer within {timeout_seconds:g} s"
        case socket.gaierror() | UnicodeError():
            return "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return f"the certificate is not valid: {error.verify_message}"
        case ssl.SSLError():
            return "the TLS handshake failed"
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionError():
            return "the connection was closed before the answer"
        case OSError():
            return "the host cannot be reached"
        case _:
            return "the answer is not HTTP"
