"""Adapter for `requests` that connects only to the checked addresses of a receiver.

A watch closes each connection at its deadline. The timeout of a socket would restart with each
read, and OpenSSL keeps reading as long as records without data arrive.
"""

import http.client
import io
import logging
import socket
import ssl
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from urllib3 import HTTPSConnectionPool
from urllib3.connection import HTTPSConnection
from urllib3.util.connection import create_connection
from urllib3.util.ssltransport import SSLTransport

from functions.ports import Clock
from functions.webhooks.deliveries.endpoint_url import EndpointUrl

OPEN_AT_MOST: Final = 512
"""Maximum open connections of a process. Beyond it the least recently used one is closed."""

IDLE_SECONDS: Final = 60.0
ANSWER_BYTES: Final = 32_768
"""Maximum bytes of a response, interim responses included."""

TLS_BYTES: Final = 98_304
"""Maximum bytes of TLS per response, handshake included: a hundred times the usual size.
OpenSSL processes session tickets as long as they arrive, and returns only afterwards."""

HEAD_LINES: Final = 256
"""Maximum lines of a response's head, interim responses included."""

_IDLE_AT_MOST: Final = 80  # connections to one receiver: the concurrency limit of a tenant
_ADDRESSES_TRIED: Final = 8  # with thousands, no address would have enough time to answer
_LET_GO_SECONDS: Final = 0.5  # an idle connection is not reused so shortly before its deadline
_INTERIM: Final = {100, *range(102, 200)}  # 101 is a final response
_FRAMING: Final = (b"connection", b"content-length", b"transfer-encoding")
_FAILURES: Final = (OSError, ValueError, http.client.HTTPException)

# The body is read so that the connection can serve the next delivery. A longer or slower body costs
# more than the handshake that it saves.
_BODY_BYTES: Final = 4096
_BODY_SECONDS: Final = 0.1

# Maximum delay with which the watch closes a connection. A timer for each would cost 0.1 ms of CPU.
_TICK_SECONDS: Final = 0.05

SUITES: Final = "ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:!aNULL:!eNULL:!aDSS:!SHA1:!AESCCM"
"""Python's default cipher suites without finite-field Diffie-Hellman, with which a receiver could
occupy the CPU for a second. `openssl.cnf` in this folder does the same for TLS 1.3."""

# urllib3 logs paths, which may contain keys.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)


class NoAnswerError(Exception):
    """The receiver sent no status. `__cause__` has the reason.

    urllib3 and `requests` do not convert this error.
    """


class NotConnectedError(NoAnswerError):
    """The connection failed before the receiver's certificate was verified."""


class _Watch:
    """Thread that closes each connection of the process at its deadline."""

    def __init__(self, clock: Clock) -> None:
        self.monotonic = clock.monotonic
        self.watched: set[PinnedConnection] = set()
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def close(self) -> None:
        """Close all connections and end the thread."""
        self._closed.set()

    def _run(self) -> None:
        is_closed = False
        while not is_closed:
            is_closed = self._closed.wait(_TICK_SECONDS)
            for connection in self.watched.copy():
                if is_closed or connection.deadline <= self.monotonic():
                    with suppress(OSError):
                        connection.end()


class PinnedAdapter(HTTPAdapter):
    """Adapter with a pool per tenant, host, port and addresses. Shared by all threads."""

    def __init__(self, tls: ssl.SSLContext, clock: Clock) -> None:
        """Create an adapter that trusts the certificate authorities of `tls`."""
        super().__init__()
        tls.options |= ssl.OP_NO_RENEGOTIATION  # the receiver could cause unlimited work
        tls.minimum_version = ssl.TLSVersion.TLSv1_2  # Debian's Python sets no minimum
        tls.set_ciphers(SUITES)
        self.watch = _Watch(clock)
        shared: dict[str, Any] = {"ssl_context": tls, "watch": self.watch, "idle": OrderedDict()}
        self._pool_of = lru_cache(OPEN_AT_MOST)(partial(_pool, maxsize=_IDLE_AT_MOST, **shared))
        self._finding_pool = threading.Lock()  # the first POSTs to a receiver share its pool

    def prepared(
        self,
        to: EndpointUrl,
        headers: Mapping[str, str],
        body: bytes,
        addresses: frozenset[str],
        tenant_id: str,
    ) -> Any:
        """Return the request that posts `body` to one of the `addresses`.

        `send` returns an `Answer` for it. A session would add cookies, redirects, proxies and
        passwords of the environment, and 150 µs.
        """
        request: Any = PreparedRequest()
        request.method, request.url, request.body = "POST", to.path, body
        # A plain dict: a case-insensitive dict costs 30 µs.
        request.headers = {"Host": to.authority, "Content-Length": str(len(body)), **headers}
        if to.authorization:
            request.headers["Authorization"] = to.authorization
        with self._finding_pool:
            request.pool = self._pool_of(tenant_id, to.host, to.port, addresses=addresses)
        return request

    def get_connection_with_tls_context(self, request: Any, *_: Any, **__: Any) -> Any:
        """Return the pool of the request's receiver."""
        return request.pool

    def cert_verify(self, *_: Any) -> None:
        """Leave trust to the TLS context."""

    def request_url(self, request: Any, _: Any) -> str:
        """Return the path, because there is no proxy."""
        return str(request.url)

    def build_response(self, _: Any, resp: Any) -> Any:
        """Return the response without cookies and encoding."""
        return resp


class PinnedConnection(HTTPSConnection):
    """Connection to one of the `addresses`, with a certificate for the host."""

    sock: Any
    timeout: Any  # seconds left for the request, as counted by urllib3
    ssl_context: Any
    deadline = 0.0  # of the request, or of the idle connection
    _tcp: "_Counted"

    def __init__(self, *, addresses: frozenset[str], watch: Any, idle: Any, **how: Any) -> None:
        super().__init__(**how)
        # The order of a set differs by process, so the instances use different addresses first.
        self._addresses = list(addresses)[:_ADDRESSES_TRIED]
        self._watch: _Watch = watch
        self._idle: OrderedDict[PinnedConnection, bool] = (
            idle  # popping a connection claims it for one thread
        )

    @property
    def is_connected(self) -> bool:
        """Whether an idle connection may serve the next request."""
        is_free = self._idle.pop(self, False)
        return is_free and self._seconds_left() > _LET_GO_SECONDS and super().is_connected

    def connect(self) -> None:
        """Connect and complete the TLS handshake, or raise NotConnectedError."""
        self.end_after(self.timeout)
        try:
            self.sock = self._tcp = _Counted(fileno=self._new_conn().detach())
            self._watch.watched.add(self)
            self._tcp.settimeout(None)
            self.sock = SSLTransport(self._tcp, self.ssl_context, self.host)
        except _FAILURES as error:
            raise NotConnectedError from error
        self.is_verified = True

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that accepts. Each gets an equal share of the time left."""
        for others, address in reversed(list(enumerate(self._addresses))):
            share = self._seconds_left() / (others + 1)
            try:
                sock = create_connection((address, self.port), share, None, self.socket_options)
                break
            except OSError:
                if not others:
                    raise
        return sock

    def request(self, method: str, url: str, **how: Any) -> None:  # type: ignore[override]
        """Prepare head and body for one write, because two writes cost 100 µs more."""
        fields = [f"{name}: {value}" for name, value in how["headers"].items()]
        head = "\r\n".join([f"{method} {url} HTTP/1.1", *fields, "", ""])
        self._unsent = head.encode("ascii") + how["body"]

    def getresponse(self) -> Any:
        """Send the request and wait for the head of the response, or raise NoAnswerError."""
        self.end_after(self.timeout)
        answer = Answer(self.sock)
        try:
            with suppress(BrokenPipeError):  # the response may have arrived already
                self.sock.sendall(self._unsent)
            answer.begin()
        except _FAILURES as error:
            raise NoAnswerError from error
        return answer

    def release(self) -> None:
        """Mark the connection as idle. Beyond OPEN_AT_MOST close the one that was idle longest."""
        self._tcp.left = TLS_BYTES
        self.end_after(IDLE_SECONDS)
        self._idle[self] = True
        if len(self._watch.watched) > OPEN_AT_MOST:
            self._idle.popitem(last=False)[0].close()

    def end_after(self, seconds: float) -> None:
        """Set the deadline of the connection to `seconds` from now."""
        self.deadline = self._watch.monotonic() + seconds

    def end(self) -> None:
        """Close the connection, or cause the thread that reads from it to close it."""
        if self._idle.pop(self, False):
            self.close()
        elif self.sock:
            self._tcp.shutdown(socket.SHUT_RDWR)  # another thread is reading TLS

    def close(self) -> None:
        """Close the connection and remove it from the watch."""
        self._idle.pop(self, None)
        self._watch.watched.discard(self)
        super().close()

    def _seconds_left(self) -> float:
        return max(self.deadline - self._watch.monotonic(), 0.001)


class _Pool(HTTPSConnectionPool):
    ConnectionCls = PinnedConnection  # type: ignore[assignment]


def _pool(_tenant_id: str, host: str, port: int, **how: Any) -> _Pool:
    return _Pool(host, port, **how)


class Answer(http.client.HTTPResponse):
    """A response that is complete once its head is read. Malformed header fields are ignored."""

    version_string, length_remaining = "HTTP/1", None  # read by urllib3's pool
    _connection: Any  # set by urllib3's pool, like `_pool`
    _pool: Any
    _lines = 0

    def __init__(self, sock: SSLTransport) -> None:
        super().__init__(_Received(sock, "r"), method="POST")  # type: ignore[arg-type]

    def begin(self) -> None:
        """Wait for the head of the final response."""
        received = self.fp
        super().begin()
        self.fp = received

    def _read_status(self) -> tuple[str, int, str]:
        # http.client skips only status 100, although RFC 9110 (15.2) allows other interim statuses,
        # and rejects a head of more than 100 lines.
        while True:
            status_line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            framing = self._framing()
            if status_line[1] not in _INTERIM:
                self.fp = io.BufferedReader(io.BytesIO(framing))
                return status_line

    def _framing(self) -> bytes:
        """Return the header fields that determine the end of the body."""
        fields, is_kept = [], False
        while (line := self._line()) not in (b"\r\n", b"\n"):
            if line[:1] not in b" \t":  # else the line continues the previous field
                is_kept = line.partition(b":")[0].lower() in _FRAMING
            if is_kept:
                fields.append(line)
        return b"".join(fields)

    def _line(self) -> bytes:
        self._lines += 1
        if self._lines > HEAD_LINES:
            raise http.client.LineTooLong("head")
        return self.fp.readline()

    def finish(self, *, is_wanted: bool) -> bytes:
        """Return the part of the body that arrives soon, and release or close the connection."""
        at_most = _BODY_BYTES if is_wanted or not self.will_close else 0
        body, is_whole, connection = b"", False, self._connection
        connection.end_after(_BODY_SECONDS)
        with suppress(*_FAILURES):
            while len(body) < at_most and (part := self.read1(at_most - len(body))):
                body += part
            is_whole = self.isclosed() or self.length == 0
        is_last = self.will_close or self.status == http.client.SWITCHING_PROTOCOLS
        tls = connection.sock
        if is_whole and not (is_last or tls.sslobj.pending() or tls.incoming.pending):
            connection.release()
            self._pool._put_conn(connection)  # noqa: SLF001 - like urllib3's own responses
        else:
            connection.close()
        return body


class _Counted(socket.socket):
    """A TCP socket that raises `LineTooLong` after `TLS_BYTES`."""

    left = TLS_BYTES

    def recv(self, size: int, flags: int = 0) -> bytes:
        if not self.left:
            raise http.client.LineTooLong("TLS")
        received = super().recv(min(size, self.left), flags)
        self.left -= len(received)
        return received


class _Received(socket.SocketIO):
    """Input of a response that raises `LineTooLong` after `ANSWER_BYTES`."""

    _left = ANSWER_BYTES

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            raise http.client.LineTooLong("head")
        received = super().readinto(memoryview(buffer)[: self._left])
        if not received:
            raise ConnectionResetError
        self._left -= received
        return received
