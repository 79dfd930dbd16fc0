"""Reads request bodies within a size limit and a deadline.

A slow body occupies a thread of the instance, and gunicorn sets no deadline. `limit_reading` wraps
the framework's application, because the framework itself reads the rest of a body before it
answers, even where it calls no function of ours.
"""

import contextlib
import io
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import flask
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout

from functions.once import once
from functions.watch import Watch

FIRST_SECONDS: Final = 1.0
"""Deadline for a body, from the first read on; each `BYTES_A_SECOND` that come add a second, as far
as the function's limit goes."""

BYTES_A_SECOND: Final = 25_000

BODY_SECONDS: Final = 5.0
"""Deadline for the longest body."""

MAX_BYTES: Final = 1_048_576
"""Limit for any body: a little more than the limit of any function."""

_PIECE: Final = 8192  # bytes after which the deadline is moved
_INPUT: Final = "wsgi.input"
_CHUNKED: Final = "HTTP_TRANSFER_ENCODING"

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


@once
def _bodies() -> "Watch[TimedBody]":
    """Made on first use: gunicorn's workers are forks, and threads are not copied."""
    return Watch(time.monotonic)


@dataclass(eq=False, slots=True)
class TimedBody:
    """The body of one request; replaces gunicorn's own object."""

    body: Any
    connection: socket.socket
    timed_bytes: int = 0
    """The function's limit: bytes beyond it add no time."""

    length: int | None = None
    """Its Content-Length, if it has one."""

    late: bool = False
    _left: int = MAX_BYTES
    _read: int = 0
    _begun: float | None = None
    _ended: bool = False

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, or all; fewer at the end of the body or of its limit.

        Raises:
            BadRequest: the body is malformed, or its connection has ended.
        """
        if self._begun is None:
            self._begun = _bodies().monotonic()
            _bodies().watched.add(self)
        size = self._left if size < 0 else min(size, self._left)
        found = b""
        while len(found) < size and not self._ended:
            found += self._piece(min(size - len(found), _PIECE))
        return found

    def close(self) -> None:
        """Read the rest in its time, so that a caller whose body is too long gets the answer."""
        with contextlib.suppress(BadRequest):
            self.read()
        self.end()
        _bodies().watched.discard(self)

    def refuse(self) -> None:
        """Stop reading; a body that has arrived whole leaves its connection usable."""
        if self._ended:
            return
        with contextlib.suppress(OSError):  # the client has gone
            self.connection.settimeout(0.0)
            with contextlib.suppress(BadRequest):
                self.read()
            self.connection.settimeout(None)
        self.end()
        self._ended = True

    def _piece(self, size: int) -> bytes:
        try:
            piece: bytes = self.body.read(size)
        except BlockingIOError:  # it is being closed
            self._left = 0
            raise BadRequest from None
        except Exception as error:
            self._ended = True
            if self.late:
                return b""
            raise BadRequest("Send a whole body, well framed.") from error
        self._left -= len(piece)
        self._read += len(piece)
        self._ended = len(piece) < size or self._read == self.length
        return piece

    @property
    def deadline(self) -> float:
        """See `Timed`."""
        timed = min(self._read, self.timed_bytes)
        seconds = min(FIRST_SECONDS + timed / BYTES_A_SECOND, BODY_SECONDS)
        return (self._begun or 0.0) + seconds

    def end(self) -> None:
        """End a body that has not ended: a waiting read returns."""
        if self._ended:
            return
        self.late = True
        with contextlib.suppress(OSError):  # the client has gone
            self.connection.shutdown(socket.SHUT_RD)


def limit_reading() -> None:
    """Give the bodies of all requests of this process a deadline."""
    if flask.has_app_context():  # else a deploy reads `main.py`
        app = flask.current_app
        app.wsgi_app = _timed(app.wsgi_app)  # type: ignore[assignment, method-assign]


def _timed(app: Application) -> Application:
    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        connection = environ.get("gunicorn.socket")
        if connection is None or not ("CONTENT_LENGTH" in environ or _CHUNKED in environ):
            return app(environ, start_response)
        given = environ.get("CONTENT_LENGTH", "")
        length = int(given) if given.isdecimal() else None
        body = environ[_INPUT] = TimedBody(environ[_INPUT], connection, length=length)
        try:
            return app(environ, start_response)
        finally:
            body.close()

    return serve


def stop_reading(request: flask.Request) -> None:
    """Do not wait for the body of a refused `request`."""
    body = request.environ.get(_INPUT)
    if isinstance(body, TimedBody):
        body.refuse()


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """The body of `request`; None where it is longer than `at_most` bytes.

    At most `at_most` bytes are read, even if Content-Length is missing or smaller.

    Raises:
        BadRequest: the body is malformed.
        RequestTimeout: the body is late.
    """
    request.max_content_length = at_most
    source = request.environ.get(_INPUT)
    if isinstance(source, TimedBody):
        source.timed_bytes = at_most
    try:
        body = request.get_data()
    except RequestEntityTooLarge:
        # Without a stream the framework does not read the rest of the body before it answers.
        request.stream = io.BytesIO()
        return None
    if isinstance(source, TimedBody) and source.late:
        raise RequestTimeout("Send the body faster.")
    return body
