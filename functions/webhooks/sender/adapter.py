"""The adapter of `requests` that posts to a receiver's checked addresses and to no others.

A watch ends each connection at its deadline. A time-out of a socket would begin anew with each
read, and OpenSSL reads records without data for as long as they come.
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
"""Open connections of a process; beyond that number, the longest idle one is closed."""

IDLE_SECONDS: Final = 60.0
ANSWER_BYTES: Final = 32_768
"""Bytes that are read of an answer, interim answers included."""

TLS_BYTES: Final = 98_304
"""Bytes that are read of TLS for one answer, with the handshake: a hundred times what is usual.
OpenSSL calculates with session tickets for as long as they come, and returns only after them."""

HEAD_LINES: Final = 256
"""Lines of an answer's head, interim answers included."""

_IDLE_AT_MOST: Final = 80  # connections to one receiver: what one tenant may have at work
_ADDRESSES_TRIED: Final = 8  # of thousands each would get no time to answer
_LET_GO_SECONDS: Final = 0.5  # before its end an idle connection serves no more
_INTERIM: Final = {100, *range(102, 200)}  # 101 is a final answer
_FRAMING: Final = (b"connection", b"content-length", b"transfer-encoding")
_FAILURES: Final = (OSError, ValueError, http.client.HTTPException)

# A body is read so that its connection can serve the next delivery. A longer or slower one costs
# more than the handshake that it would save.
_BODY_BYTES: Final = 4096
_BODY_SECONDS: Final = 0.1

# How late the watch may end a connection. A timer for each one would take 0.1 ms of CPU.
_TICK_SECONDS: Final = 0.05

SUITES: Final = "ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:!aNULL:!eNULL:!aDSS:!SHA1:!AESCCM"
"""Python's own without Diffie-Hellman in finite fields, with which a receiver can keep an attempt
calculating for a second. `openssl.cnf` beside this file does the same for TLS 1.3."""

# urllib3 logs paths, which may hold keys.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)


class NoAnswerError(Exception):
    """No status came; the cause says why. urllib3 and `requests` pass the error on as it is."""


class NotConnectedError(NoAnswerError):
    """The receiver has not even shown its certificate."""


class _Watch:
    """Ends each connection at its deadline: one thread for all connections of a process."""

    def __init__(self, clock: Clock) -> None:
        self.monotonic = clock.monotonic
        self.watched: set[PinnedConnection] = set()
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def close(self) -> None:
        """End all connections at once, and the thread."""
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
    """Pools connections by tenant, name, port and addresses; serves all threads of a process."""

    def __init__(self, tls: ssl.SSLContext, clock: Clock) -> None:
        """Trust what `tls` trusts."""
        super().__init__()
        tls.options |= ssl.OP_NO_RENEGOTIATION  # work that only the other side decides on
        tls.minimum_version = ssl.TLSVersion.TLSv1_2  # Debian's Python has none
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
        """A POST of `body` to one of the `addresses`, for `send`, which returns an `Answer`.

        A session would add cookies, redirects, the environment's proxies and passwords, and 150 µs.
        """
        request: Any = PreparedRequest()
        request.method, request.url, request.body = "POST", to.path, body
        # A plain dict: one that folds case costs 30 µs.
        request.headers = {"Host": to.authority, "Content-Length": str(len(body)), **headers}
        if to.authorization:
            request.headers["Authorization"] = to.authorization
        with self._finding_pool:
            request.pool = self._pool_of(tenant_id, to.host, to.port, addresses=addresses)
        return request

    def get_connection_with_tls_context(self, request: Any, *_: Any, **__: Any) -> Any:
        """The pool of the request's receiver."""
        return request.pool

    def cert_verify(self, *_: Any) -> None:
        """Leave trust to the TLS context."""

    def request_url(self, request: Any, _: Any) -> str:
        """The path; there is no proxy."""
        return str(request.url)

    def build_response(self, _: Any, resp: Any) -> Any:
        """The answer as it is, without cookies or an encoding."""
        return resp


class PinnedConnection(HTTPSConnection):
    """A connection to one of the `addresses`, with a certificate for the host."""

    sock: Any
    timeout: Any  # seconds that are left of the POST, as urllib3 counts them
    ssl_context: Any
    deadline = 0.0  # of the POST, or of the idle connection
    _tcp: "_Counted"

    def __init__(self, *, addresses: frozenset[str], watch: Any, idle: Any, **how: Any) -> None:
        super().__init__(**how)
        # The order of a set is a process's own, so that instances spread over the addresses.
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
        """Connect and shake hands, or raise NotConnectedError."""
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
        """Connect to the first address that accepts; each gets an equal share of the time left."""
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
        """Keep the request for one write of head and body: two cost a hundred microseconds."""
        fields = [f"{name}: {value}" for name, value in how["headers"].items()]
        head = "\r\n".join([f"{method} {url} HTTP/1.1", *fields, "", ""])
        self._unsent = head.encode("ascii") + how["body"]

    def getresponse(self) -> Any:
        """Send the request and wait for the head of its answer, or raise NoAnswerError."""
        self.end_after(self.timeout)
        answer = Answer(self.sock)
        try:
            with suppress(BrokenPipeError):  # the answer may have come before
                self.sock.sendall(self._unsent)
            answer.begin()
        except _FAILURES as error:
            raise NoAnswerError from error
        return answer

    def release(self) -> None:
        """Return to the pool; beyond OPEN_AT_MOST close the longest idle connection."""
        self._tcp.left = TLS_BYTES
        self.end_after(IDLE_SECONDS)
        self._idle[self] = True
        if len(self._watch.watched) > OPEN_AT_MOST:
            self._idle.popitem(last=False)[0].close()

    def end_after(self, seconds: float) -> None:
        """Have the watch end the connection in some seconds."""
        self.deadline = self._watch.monotonic() + seconds

    def end(self) -> None:
        """Close the connection, or have the thread that reads from it close it."""
        if self._idle.pop(self, False):
            self.close()
        elif self.sock:
            self._tcp.shutdown(socket.SHUT_RDWR)  # TLS is being read

    def close(self) -> None:
        """Close the connection."""
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
    """An answer whose status counts once its head has come; doubtful fields decide nothing."""

    version_string, length_remaining = "HTTP/1", None  # the pool of urllib3 asks for them, …
    _connection: Any  # … and sets these
    _pool: Any
    _lines = 0

    def __init__(self, sock: SSLTransport) -> None:
        super().__init__(_Received(sock, "r"), method="POST")  # type: ignore[arg-type]

    def begin(self) -> None:
        """Wait for the head of the final answer."""
        received = self.fp
        super().begin()
        self.fp = received

    def _read_status(self) -> tuple[str, int, str]:
        # http.client itself passes over 100 only (RFC 9110, 15.2: there may be others), and fails
        # a head of more than a hundred lines.
        while True:
            status_line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            framing = self._framing()
            if status_line[1] not in _INTERIM:
                self.fp = io.BufferedReader(io.BytesIO(framing))
                return status_line

    def _framing(self) -> bytes:
        """The fields of a head that say where its body ends."""
        fields, is_kept = [], False
        while (line := self._line()) not in (b"\r\n", b"\n"):
            if line[:1] not in b" \t":  # else it continues the field above it
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
        """The body, as far as it comes soon; the connection rests where it has ended."""
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
            self._pool._put_conn(connection)  # noqa: SLF001 - as urllib3's own answers do
        else:
            connection.close()
        return body


class _Counted(socket.socket):
    """A TCP connection that receives `TLS_BYTES`; raises `LineTooLong` beyond."""

    left = TLS_BYTES

    def recv(self, size: int, flags: int = 0) -> bytes:
        if not self.left:
            raise http.client.LineTooLong("TLS")
        received = super().recv(min(size, self.left), flags)
        self.left -= len(received)
        return received


class _Received(socket.SocketIO):
    """The first `ANSWER_BYTES` of an answer; raises `LineTooLong` beyond."""

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
