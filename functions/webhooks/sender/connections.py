"""A TLS connection whose every wait ends at one moment, and which reads no more than it is allowed.

TLS works on memory here and the socket is read by hand. So every byte that arrives is counted
before TLS sees it, and bytes that TLS has decrypted ahead are seen. A time-out of the socket would
start anew with every byte that drips in.
"""

import select
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

HANDSHAKE_BYTES: Final = 65_536
"""Bytes that a receiver may send before it is known who it is: ten times an ordinary chain."""

_CHUNK: Final = 16_384  # bytes; what one TLS record carries

# A name has a few addresses. Of thousands each would get no time to answer.
_ADDRESSES_TRIED: Final = 8

SocketAddress: TypeAlias = tuple[socket.AddressFamily, Any]
"""What `socket.connect` takes, and the family of the socket."""


class TooMuchReadError(Exception):
    """The other side has sent more than it may; the rest stays unread."""


class Connection:
    """A TLS connection; one thread at a time may use it.

    `places` are the addresses of the receiver's name when the connection was made. `deadline` is a
    moment on the clock that was handed in, `may_read` how many more bytes of the
    socket are read. Beyond the one every operation raises TimeoutError, beyond the other
    TooMuchReadError.
    """

    def __init__(
        self,
        plain: socket.socket,
        tls: ssl.SSLContext,
        host: str,
        deadline: float,
        monotonic: Callable[[], float],
    ) -> None:
        """Shake hands over `plain` with the receiver `host`; it is closed where that fails.

        Raises:
            OSError: the handshake failed, ssl.SSLError among them: for one beyond
                `HANDSHAKE_BYTES`, too.
        """
        self.deadline = deadline
        self.may_read = HANDSHAKE_BYTES
        self.since = monotonic()
        self.answers = 0
        self.places: frozenset[str] = frozenset()
        self._monotonic = monotonic
        self._plain = plain
        try:
            plain.setblocking(False)  # noqa: FBT003 - the library's own
            self._readable = select.poll()
            self._readable.register(plain, select.POLLIN)
            self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
            self._handshake()
        except TooMuchReadError as too_much:
            plain.close()
            raise ssl.SSLError("the handshake is too long") from too_much
        except BaseException:
            plain.close()
            raise

    def holds_more(self) -> bool:
        """Whether it has received something that was not asked for, or its end."""
        if not (self._incoming.pending or self._tls.pending()):
            return False
        try:
            self._tls.read(1)
        except ssl.SSLWantReadError:
            return False  # TLS' own, such as a ticket for the next handshake
        except ssl.SSLError:
            return True
        return True

    def is_readable(self) -> bool:
        """Whether anything has arrived since: the connection's end, or what nobody asked for."""
        return bool(self._readable.poll(0))

    def send(self, data: bytes) -> None:
        """Send all of it."""
        for start in range(0, len(data), _CHUNK):  # encrypted ahead, it would be in memory twice
            self._tls.write(data[start : start + _CHUNK])
            self._flush()

    def receive(self) -> bytes:
        """What came next, at least one byte.

        Raises:
            ConnectionResetError: the connection has ended.
        """
        while True:
            if not self._incoming.pending:
                self._fill()
            try:
                received = self._tls.read(_CHUNK)
            except ssl.SSLWantReadError:
                self._fill()
            except ssl.SSLEOFError as ended:
                raise ConnectionResetError from ended
            else:
                if not received:
                    raise ConnectionResetError
                return received

    def close(self) -> None:
        """Close it, without a farewell."""
        self._plain.close()

    def _handshake(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                with suppress(OSError):
                    self._flush()  # the alert tells the receiver's people why
                raise
            else:
                self._flush()
                return

    def _fill(self) -> None:
        """Take in what the socket has, waiting for it."""
        if self.may_read <= 0:
            raise TooMuchReadError
        received = None
        while received is None:
            self._wait(self._readable)
            with suppress(BlockingIOError):
                received = self._plain.recv(min(_CHUNK, self.may_read))
        self.may_read -= len(received)
        if received:
            self._incoming.write(received)
        else:
            self._incoming.write_eof()

    def _flush(self) -> None:
        """Send what TLS has made."""
        waiting = memoryview(self._outgoing.read())
        while waiting:
            try:
                sent = self._plain.send(waiting)
            except BlockingIOError:
                writable = select.poll()
                writable.register(self._plain, select.POLLOUT)
                self._wait(writable)
            else:
                waiting = waiting[sent:]

    def _wait(self, ready: select.poll) -> None:
        if not ready.poll(time_left(self.deadline, self._monotonic) * 1000):
            raise TimeoutError


def connect(
    candidates: Sequence[SocketAddress], deadline: float, monotonic: Callable[[], float]
) -> socket.socket:
    """Connect to the first address that accepts; each gets an equal share of the time left.

    Raises:
        OSError: why the last one did not.
    """
    error: OSError = socket.gaierror("no address")
    tried = candidates[:_ADDRESSES_TRIED]
    for index, (family, address) in enumerate(tried):
        share = time_left(deadline, monotonic) / (len(tried) - index)
        try:
            return _connected(family, address, share)
        except OSError as refused:
            error = refused
    raise error


def _connected(family: socket.AddressFamily, address: Any, seconds: float) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        connection.close()
        raise
    return connection


def time_left(deadline: float, monotonic: Callable[[], float]) -> float:
    """Seconds until `deadline`.

    Raises:
        TimeoutError: there are none.
    """
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    return left
