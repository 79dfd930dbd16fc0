"""TLS connections to checked addresses; a watch ends each of them at its deadline.

urllib3 pools the connections and says how long a POST may take. A time-out of a socket would begin
anew with each read, and OpenSSL reads records without data for as long as they come.
"""

import http.client
import io
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from urllib3.connection import HTTPSConnection

ANSWER_BYTES: Final = 32_768
"""Bytes that are read of an answer, interim answers included."""

OPEN_AT_MOST: Final = 512
"""Open connections of a process; beyond that number, the longest idle one is closed."""

IDLE_SECONDS: Final = 60.0
KEPT_SECONDS: Final = 300.0  # from the handshake on: an expired certificate is noticed
_ADDRESSES_TRIED: Final = 8  # of thousands each would get no time to answer
_TICK_SECONDS: Final = 0.1
_LET_GO_SECONDS: Final = 0.5  # before its end an idle connection serves no more


class TooMuchReadError(Exception):
    """The receiver has sent more than `ANSWER_BYTES`; the rest stays unread."""


class NoAnswerError(Exception):
    """No status came; the cause says why. urllib3 and `requests` pass the error on as it is."""


class NotConnectedError(NoAnswerError):
    """The receiver has not even shown its certificate."""


_FAILURES: Final = (OSError, ValueError, http.client.HTTPException, TooMuchReadError)


class Watch:
    """Ends each POST at its deadline, and connections that were idle for long."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Begin to watch; `monotonic` gives seconds that only grow."""
        self.monotonic = monotonic
        self.open: dict[ssl.SSLSocket, PinnedConnection] = {}
        self.closed = threading.Event()
        threading.Thread(target=self._run, name="sender", daemon=True).start()

    def _run(self) -> None:
        while not self.closed.wait(_TICK_SECONDS):
            self._end_overdue(self.monotonic())
        self._end_overdue(float("inf"))

    def _end_overdue(self, now: float) -> None:
        for sock, connection in self.open.copy().items():
            if sock.fileno() < 0:
                del self.open[sock]
            elif connection.deadline <= now:
                with suppress(OSError):
                    if connection.is_idle:
                        sock.close()
                    else:  # a thread is reading TLS, so only TCP ends
                        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class PinnedConnection(HTTPSConnection):
    """A connection to one of the `addresses`, with a certificate for the host."""

    sock: Any
    timeout: Any  # seconds that are left of the POST, as urllib3 counts them
    is_idle = False
    deadline = 0.0  # of the POST, or of the idle connection
    _until = 0.0

    def __init__(
        self,
        *arguments: Any,
        addresses: Collection[str],
        tls: ssl.SSLContext,
        watch: Watch,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        # The order of a set is a process's own, so that instances spread over the addresses.
        self._addresses = list(addresses)[:_ADDRESSES_TRIED]
        self._tls = tls
        self._watch = watch
        self._unsent = b""

    @property
    def is_connected(self) -> bool:
        """Whether an idle connection may serve the next request."""
        now = self._watch.monotonic()
        is_due = now + _LET_GO_SECONDS >= self.deadline or now >= self._until
        self.is_idle = False
        return not is_due and super().is_connected

    def connect(self) -> None:
        """Connect and shake hands, or raise NotConnectedError."""
        self.end_after(self.timeout)
        try:
            plain = self._new_conn()
            # Unlike a read, a handshake keeps to the time-out as a whole.
            plain.settimeout(self._seconds_left())
            self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
        except _FAILURES as error:
            raise NotConnectedError from error
        self.sock.settimeout(None)
        self._watch.open[self.sock] = self
        self._until = self._watch.monotonic() + KEPT_SECONDS
        self.is_verified = True

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that accepts; each gets an equal share of the time left."""
        error: OSError = socket.gaierror("no address")
        for index, address in enumerate(self._addresses):
            share = self._seconds_left() / (len(self._addresses) - index)
            try:
                plain = socket.create_connection((address, self.port), share)
            except OSError as refused:
                error = refused
            else:
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return plain
        raise error

    def request(  # type: ignore[override]
        self, method: str, url: str, *, body: bytes, headers: Mapping[str, str], **_: Any
    ) -> None:
        """Keep the request for one write of head and body: two cost a hundred microseconds."""
        lines = [f"{method} {url} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
        self._unsent = "\r\n".join([*lines, "", ""]).encode("ascii") + body

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

    def end_after(self, seconds: float) -> None:
        """Have the watch end the connection in some seconds."""
        self.deadline = self._watch.monotonic() + seconds

    def rest(self) -> None:
        """Wait for the next request, in place of the longest idle connection if too many do."""
        self.end_after(IDLE_SECONDS)
        self.is_idle = True
        if len(self._watch.open) > OPEN_AT_MOST:
            idle = [found for found in self._watch.open.copy().values() if found.is_idle]
            min(idle, key=lambda found: found.deadline).end_after(_LET_GO_SECONDS)

    def _seconds_left(self) -> float:
        return max(self.deadline - self._watch.monotonic(), 0.001)


class _Received(io.RawIOBase):
    """The bytes of one answer; `tell` gives their number so far."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._sock = sock
        self._count = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._count

    def makefile(self, _: str) -> "_Reader":
        return _Reader(self)

    def readinto(self, buffer: Any) -> int:
        if self._count >= ANSWER_BYTES:
            raise TooMuchReadError
        received = int(self._sock.recv_into(buffer, min(len(buffer), ANSWER_BYTES - self._count)))
        if not received:
            raise ConnectionResetError
        self._count += received
        return received


class _Reader(io.BufferedReader):
    def close(self) -> None:
        """Stay open: the reader still tells whether more has come than the answer."""


class Answer(http.client.HTTPResponse):
    """An answer whose status counts once its head has come; doubtful fields decide nothing.

    The pool of urllib3 asks for the first two attributes and sets the others.
    """

    version_string = "HTTP/1"
    length_remaining = None
    _connection: PinnedConnection
    _pool: Any

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._received = _Received(sock)
        super().__init__(self._received, method="POST")  # type: ignore[arg-type]
        self._reader = self.fp

    def begin(self) -> None:
        """Wait for the head."""
        try:
            super().begin()
        except http.client.HTTPException as error:
            if type(error) is not http.client.HTTPException or not isinstance(self.status, int):
                raise
            # More than a hundred lines.
            self.headers = self.msg = http.client.HTTPMessage()
            self.chunked, self.length, self.will_close = False, 0, True

    def _read_status(self) -> tuple[str, int, str]:
        # http.client itself passes over 100 only (RFC 9110, 15.2: there may be others).
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if http.client.SWITCHING_PROTOCOLS < status < http.client.OK:
            status = http.client.CONTINUE
        return version, status, reason

    def finish(self, seconds: float, at_most: int) -> bytes:
        """The body, as far as it comes in `seconds`; the connection rests where it has ended."""
        body, has_ended, connection = b"", False, self._connection
        connection.end_after(seconds)
        with suppress(*_FAILURES):
            while len(body) < at_most and (part := self.read1(at_most - len(body))):
                body += part
            has_ended = self.isclosed() or self.length == 0
        has_more = self._reader.tell() < self._received.tell() or connection.sock.pending()
        is_last = self.will_close or self.status == http.client.SWITCHING_PROTOCOLS
        if has_ended and not has_more and not is_last:
            connection.rest()
            self._pool._put_conn(connection)  # noqa: SLF001 - as urllib3's own answers do
        else:
            connection.close()
        return body
