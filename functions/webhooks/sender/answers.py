"""The answer of a receiver that may mean harm, read by `http.client` within a limit."""

import http.client
import io
import socket
import ssl
from contextlib import suppress
from typing import Any, Final

ANSWER_BYTES: Final = 32_768
"""Bytes that are read of an answer, interim answers included."""

FAILURES: Final = (OSError, ValueError, http.client.HTTPException)
"""What reading raises; `LineTooLong` where the head has more than `ANSWER_BYTES`."""

# `http.client` fails an answer with more than a hundred lines in its head. It has no other setting.
http.client._MAXHEADERS = ANSWER_BYTES  # type: ignore[attr-defined] # noqa: SLF001


class Answer(http.client.HTTPResponse):
    """An answer whose status counts once its head has come; doubtful fields decide nothing."""

    fp: Any
    version_string, length_remaining = "HTTP/1", None  # the pool of urllib3 asks for them, …
    _connection: Any  # … and sets these
    _pool: Any

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._received = _Received(sock, "r")
        super().__init__(self._received, method="POST")  # type: ignore[arg-type]
        self._reader = self.fp

    def _read_status(self) -> tuple[str, int, str]:
        # http.client itself passes over 100 only (RFC 9110, 15.2: there may be others).
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if http.client.SWITCHING_PROTOCOLS < status < http.client.OK:
            status = http.client.CONTINUE
        return version, status, reason

    def _close_conn(self) -> None:
        self.fp = None  # still open: it tells whether more has come than the answer

    def finish(self, seconds: float, at_most: int) -> bytes:
        """The body, as far as it comes in `seconds`; the connection rests where it has ended."""
        body, has_ended, connection = b"", False, self._connection
        connection.end_after(seconds)
        with suppress(*FAILURES):
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


class _Received(socket.SocketIO):
    """The bytes of one answer; `tell` gives their number so far."""

    _left = ANSWER_BYTES

    def tell(self) -> int:
        return ANSWER_BYTES - self._left

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
