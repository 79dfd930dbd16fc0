"""TLS connections to checked addresses, each of whose waits ends at one deadline.

urllib3 pools and uses them. What it does not promise is here: one deadline for a whole POST, an
answer of a bounded length, the address that is connected to, and few idle connections.
"""

import http.client
import io
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from urllib3.connection import HTTPSConnection

ANSWER_BYTES: Final = 32_768
"""Bytes that are read of an answer's head, interim answers included, and again of its body."""

IN_ALL: Final = 512
"""Open connections of a process from which on the longest idle one is let go."""

IDLE_SECONDS: Final = 60.0

KEPT_SECONDS: Final = 300.0
"""The greatest age of a connection: a certificate that has ended is noticed."""

# A name has a few addresses. Of thousands each would get no time to answer.
_ADDRESSES_TRIED: Final = 8

_TICK_SECONDS: Final = 0.25
_SLACK_SECONDS: Final = 0.05  # by which a wait may go beyond its deadline
_LET_GO_SECONDS: Final = 0.5  # before its end an idle connection serves no more

SocketAddress: TypeAlias = tuple[socket.AddressFamily, Any]
"""What `socket.connect` takes, and the family of the socket."""


class TooMuchReadError(Exception):
    """The other side has sent more than it may; the rest stays unread."""


class NotConnectedError(OSError):
    """The receiver has not shown its certificate; the cause says why."""


@dataclass(slots=True)
class Bounds:
    """How long (until `deadline`, on the clock `monotonic`) and how many bytes may be read."""

    monotonic: Callable[[], float]
    deadline: float = 0.0
    may_read: int = 0

    def begin(self, seconds: float) -> None:
        """Allow `seconds` and `ANSWER_BYTES` from now on."""
        self.deadline = self.monotonic() + seconds
        self.may_read = ANSWER_BYTES

    def seconds_left(self) -> float:
        """Seconds until the deadline; raises TimeoutError where there are none."""
        left = self.deadline - self.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class BoundedSocket(ssl.SSLSocket):
    """A TLS socket that keeps to its `bounds`.

    CPython takes the time-out for the whole of one handshake, read or write, however the bytes
    drip; so each gets the time left. Only TLS records without data hold a read longer: see `Watch`.
    """

    bounds: Bounds
    is_idle = False
    has_more = False  # than its last answer

    def send(self, data: Any, flags: int = 0) -> int:
        """Send some of `data` within the deadline."""
        self.limit_waiting()
        return super().send(data, flags)

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Receive at least a byte; raises TooMuchReadError, and OSError at the end."""
        if self.bounds.may_read <= 0:
            raise TooMuchReadError
        self.limit_waiting()
        received = super().recv_into(memoryview(buffer)[: self.bounds.may_read], nbytes, flags)
        if not received:
            raise ConnectionResetError
        self.bounds.may_read -= received
        return received

    def settimeout(self, seconds: float | None) -> None:
        """Leave it at the deadline; urllib3 sets more."""

    def limit_waiting(self) -> None:
        """Have the next operation end at the deadline; each change is a call to the system."""
        left, now = self.bounds.seconds_left(), self.gettimeout()
        if now is None or not left <= now <= left + _SLACK_SECONDS:
            super().settimeout(left)

    def makefile(self, *_: Any, **__: Any) -> Any:
        """What http.client reads an answer from."""
        reader = _Reader(super().makefile("rb", buffering=0))
        reader.source = self
        return reader


class _Reader(io.BufferedReader):
    source: BoundedSocket

    def close(self) -> None:
        if not self.closed:
            self.source.bounds.may_read = 0
            with suppress(TooMuchReadError, OSError):  # the buffer is empty
                self.source.has_more = bool(self.peek(1))
        super().close()


class Watch:
    """Ends what is overdue: a POST at its deadline, a connection that was idle for long."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Begin to watch; `monotonic` gives seconds that only grow."""
        self.monotonic = monotonic
        self.open: set[BoundedSocket] = set()
        self.closed = threading.Event()
        threading.Thread(target=self._run, name="sender", daemon=True).start()

    def _run(self) -> None:
        while not self.closed.wait(_TICK_SECONDS):
            self._end_overdue(self.monotonic())
        self._end_overdue(float("inf"))

    def _end_overdue(self, now: float) -> None:
        for connection in list(self.open):
            if connection.fileno() < 0:
                self.open.discard(connection)
            elif connection.bounds.deadline <= now and connection.is_idle:
                connection.close()
            elif connection.bounds.deadline <= now:
                with suppress(OSError):  # TCP's, because a thread is reading TLS
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Answer(http.client.HTTPResponse):
    """An answer whose status counts once its head has come, whatever its fields say.

    The pool of urllib3 asks for the first two attributes and sets the others.
    """

    version_string = "HTTP/1"
    length_remaining = None
    retries: Any
    _connection: "PinnedConnection"
    _pool: Any

    def finish(self, seconds: float, at_most: int) -> bytes:
        """The body, as far as it comes in `seconds`; the connection rests where it has ended."""
        body, has_ended = b"", False
        self._connection.timeout = seconds
        with suppress(OSError, ValueError, http.client.HTTPException, TooMuchReadError):
            while len(body) < at_most and (part := self.read1(at_most - len(body))):
                body += part
            has_ended = self.isclosed() or self.length == 0
        self.close()
        if has_ended and not self.will_close:
            self._pool._put_conn(self._connection)  # noqa: SLF001 - as urllib3's own answers do
        else:
            self._connection.close()
        return body

    def _read_status(self) -> tuple[str, int, str]:
        # http.client itself passes over 100 only (RFC 9110, 15.2: there may be others).
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if not version.startswith("HTTP/1."):
            raise http.client.UnknownProtocol(version)
        if http.client.SWITCHING_PROTOCOLS < status < http.client.OK:
            status = http.client.CONTINUE
        return version, status, reason

    def begin(self) -> None:
        """Wait for the head."""
        try:
            super().begin()
        except http.client.HTTPException:  # more than a hundred lines
            if not isinstance(self.status, int):
                raise
            self._end(http.client.HTTPMessage())
        lengths = ",".join(self.headers.get_all("content-length", [])).split(",")
        if self.status == http.client.SWITCHING_PROTOCOLS or len(set(lengths)) > 1:
            self._end(self.headers)

    def _end(self, headers: http.client.HTTPMessage) -> None:
        """End with the head; the connection serves no other answer."""
        del headers["content-length"]
        self.headers = self.msg = headers
        self.chunked, self.length, self.will_close = False, 0, True


class PinnedConnection(HTTPSConnection):
    """A connection to one of the `addresses`, with a certificate for the host."""

    sock: Any

    def __init__(
        self,
        *arguments: Any,
        addresses: Collection[SocketAddress],
        tls: ssl.SSLContext,
        watch: Watch,
        **options: Any,
    ) -> None:
        self.bounds = Bounds(watch.monotonic)
        # The order of a set is a process's own, so that instances spread over the addresses.
        self._addresses = list(addresses)[:_ADDRESSES_TRIED]
        self._tls = tls
        self._watch = watch
        self._unsent = b""
        super().__init__(*arguments, **options)

    @property
    def timeout(self) -> float:
        """Seconds left of what urllib3 allows; it allows them anew for each answer."""
        return self.bounds.seconds_left()

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self.bounds.begin(seconds)

    @property
    def is_connected(self) -> bool:
        """Whether an idle connection may serve the next request."""
        if self.sock is None or self.sock.fileno() < 0:
            return False
        now = self._watch.monotonic()
        is_due = now + _LET_GO_SECONDS >= self.bounds.deadline or now >= self._until
        self.sock.is_idle = False
        return not is_due and super().is_connected

    def connect(self) -> None:
        """Connect and shake hands, or raise NotConnectedError."""
        try:
            plain = _connected(self._addresses, self.bounds)
            self.sock = self._tls.wrap_socket(
                plain, server_hostname=self.host, do_handshake_on_connect=False
            )
            self.sock.bounds = self.bounds
            self._watch.open.add(self.sock)
            self.sock.limit_waiting()
            self.sock.do_handshake()
        except (OSError, ValueError) as error:
            raise NotConnectedError from error
        self._until = self._watch.monotonic() + KEPT_SECONDS
        self.is_verified = True

    def request(  # type: ignore[override]
        self, method: str, url: str, *, body: bytes, headers: Mapping[str, str], **_: Any
    ) -> None:
        """Keep the request for one write of head and body."""
        lines = [f"{method} {url} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
        self._unsent = "\r\n".join([*lines, "", ""]).encode("ascii") + body

    def getresponse(self) -> Any:
        """Send the request and wait for the head of its answer.

        urllib3 and http.client would take a hundred microseconds more to do both.
        """
        with suppress(BrokenPipeError):  # the answer may have come before
            self.sock.sendall(self._unsent)
        answer = Answer(self.sock, method="POST")
        try:
            answer.begin()
        except BaseException:
            answer.close()
            raise
        return answer

    def rest(self) -> None:
        """Wait for the next request, in place of the longest idle connection if too many do."""
        if self.sock.has_more or self.sock.pending():
            self.close()
            return
        self.timeout, self.sock.is_idle = IDLE_SECONDS, True
        if len(self._watch.open) > IN_ALL:
            idle = [found.bounds for found in list(self._watch.open) if found.is_idle]
            min(idle, key=lambda bounds: bounds.deadline).deadline = 0.0


def _connected(candidates: Sequence[SocketAddress], bounds: Bounds) -> socket.socket:
    """A socket to the first address that accepts; each gets an equal share of the time left."""
    error: OSError = socket.gaierror("no address")
    for index, (family, address) in enumerate(candidates):
        share = bounds.seconds_left() / (len(candidates) - index)
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(share)
            plain.connect(address)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as refused:
            plain.close()
            error = refused
        else:
            return plain
    raise error
