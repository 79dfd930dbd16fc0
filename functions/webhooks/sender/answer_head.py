"""An answer, read as far as needed: its status, and the start of the body of a failure.

It also tells whether its connection can serve the next delivery.

`http.client` would read a hundred headers of 64 KiB each and make objects of them. Nothing of them
is used here but the three that tell where the answer ends, and all that a receiver may send for one
delivery is `ANSWER_BYTES`, interim answers and TLS' own bytes included.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from functions.webhooks.sender.connections import TooMuchReadError

ANSWER_BYTES: Final = 32_768
"""Bytes of one answer that are taken off the socket; its head is shorter."""

EXCERPT_BYTES: Final = 1024
"""Bytes of a body that are kept: what a developer at the receiver needs to see why."""

# A short body is read so that its connection can serve the next delivery; a longer or slower one
# costs more than the handshake it would save.
_DISCARD_BYTES: Final = 4096
_DISCARD_SECONDS: Final = 0.1

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([0-9]) +([1-9][0-9][0-9])(?: [^\r\n]*)?\r?\n")
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_FRAMING: Final = re.compile(rb"\n(content-length|transfer-encoding|connection)[ \t]*:([^\n]*)")
_DIGITS: Final = re.compile(rb"[0-9]{1,9}")
_LINE_END: Final = re.compile(rb"\r?\n")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n", re.IGNORECASE)
_SWITCHING_PROTOCOLS: Final = 101
_WITHOUT_BODY: Final = (204, 304)
# Nothing of them shows, and some of them move what does. Line ends and tabs stay.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})
_UTF8: Final = codecs.getincrementaldecoder("utf-8")


class NotHttpError(Exception):
    """What was received is no answer of HTTP/1."""


class Source(Protocol):
    """What an answer is read from."""

    deadline: float
    may_read: int

    def receive(self) -> bytes:
        """What came next, at least one byte."""


@dataclass(frozen=True, slots=True)
class _Head:
    status: int
    minor: int
    framing: tuple[tuple[bytes, bytes], ...]

    def values(self, name: bytes) -> list[bytes]:
        return [value for found, value in self.framing if found == name]

    @property
    def keeps(self) -> bool:
        values = b",".join(self.values(b"connection"))
        options = {option.strip() for option in values.split(b",")}
        return b"close" not in options and (self.minor > 0 or b"keep-alive" in options)


class Answer:
    """One answer, as it arrives."""

    def __init__(self, source: Source) -> None:
        """It has `ANSWER_BYTES` from here on, and the deadline of `source`."""
        self._source = source
        source.may_read = ANSWER_BYTES
        self._received = bytearray()
        self._at = 0  # up to where it is understood
        self._body: list[tuple[int, int]] = []
        self._wanted = 0

    def status(self) -> int:
        """Wait for the head; interim answers (1xx) are passed over.

        Raises:
            NotHttpError: it is none.
            TooMuchReadError: it is too long.
            OSError: it did not come, ssl.SSLError among them.
        """
        while True:
            self._head = self._read_head()
            if self._head.status >= 200 or self._head.status == _SWITCHING_PROTOCOLS:  # noqa: PLR2004
                return self._head.status

    def discard(self, monotonic: Callable[[], float], *, excerpt: bool = False) -> bool:
        """Read a short body away; whether the next answer will be the next that is received.

        Where anything is doubtful it will not. With `excerpt` the body's beginning is read in any
        case, as far as it comes within the same time.
        """
        head = self._head
        self._keeps = head.keeps and head.status != _SWITCHING_PROTOCOLS
        self._wanted = EXCERPT_BYTES if excerpt and head.status != _SWITCHING_PROTOCOLS else 0
        if not self._keeps and not self._wanted:
            return False
        self._source.deadline = min(self._source.deadline, monotonic() + _DISCARD_SECONDS)
        try:
            self._skip_body(head)
        except (NotHttpError, TooMuchReadError, OSError):
            return False
        return self._keeps and self._at == len(self._received)

    @property
    def excerpt(self) -> str | None:
        """The start of the body, as far as it was read: at most `EXCERPT_BYTES` of UTF-8.

        Bytes that are not UTF-8 are replaced, control characters left out. None if no text is left.
        """
        body = b"".join(bytes(self._received[begin:end]) for begin, end in self._body)
        text = _UTF8("replace").decode(body[:EXCERPT_BYTES]).translate(_CONTROLS)
        # Bytes that are no text grow threefold.
        return text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip() or None

    def _skip_body(self, head: _Head) -> None:
        lengths, codings = head.values(b"content-length"), head.values(b"transfer-encoding")
        if head.status in _WITHOUT_BODY:
            return
        if codings == [b"chunked"] and not lengths:
            self._skip_chunks()
        elif len(lengths) == 1 and not codings and _DIGITS.fullmatch(lengths[0]):
            self._skip(int(lengths[0]))
        else:
            self._take(ANSWER_BYTES)  # until its connection ends
            raise NotHttpError

    def _skip_chunks(self) -> None:
        end = self._at + _DISCARD_BYTES
        while size := int(self._line(_CHUNK_SIZE)[1], 16):
            self._skip(size)
            self._line(_LINE_END)
            if self._at > end:
                raise TooMuchReadError
        self._line(_LINE_END)  # a trailer is rare, and not worth its parsing

    def _skip(self, size: int) -> None:
        """Go past `size` bytes of the body, as long as that is worth it."""
        if self._wanted:
            self._take(size)
        if size > _DISCARD_BYTES or not (self._keeps or self._wanted):
            raise TooMuchReadError
        self._at += size
        while len(self._received) < self._at:
            self._receive()

    def _take(self, size: int) -> None:
        """Read what the excerpt wants of the next `size` bytes of the body."""
        end = self._at + min(size, self._wanted)
        self._body.append((self._at, end))
        self._wanted -= end - self._at
        while len(self._received) < end:
            self._receive()

    def _read_head(self) -> _Head:
        line = self._line(_STATUS_LINE)
        began = self._at - 1  # at the line's end: an empty line may follow at once
        looked = began
        while not (end := _HEAD_END.search(self._received, looked)):
            looked = max(began, len(self._received) - 2)
            self._receive()
        self._at = end.end()
        fields = bytes(self._received[began : self._at]).lower()
        framing = tuple((found[1], found[2].strip()) for found in _FRAMING.finditer(fields))
        return _Head(status=int(line[2]), minor=int(line[1]), framing=framing)

    def _line(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        """The next line, which must be one of `pattern`."""
        looked = self._at
        while (end := self._received.find(b"\n", looked)) < 0:
            looked = len(self._received)
            self._receive()
        line = pattern.fullmatch(bytes(self._received[self._at : end + 1]))
        if not line:
            raise NotHttpError
        self._at = end + 1
        return line

    def _receive(self) -> None:
        self._received += self._source.receive()
