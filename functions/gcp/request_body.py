"""Reads request bodies within a size limit and a deadline.

A slow body occupies a thread of the instance, and gunicorn sets no deadline. `limit_reading` wraps
the framework's application, because the framework itself reads the rest of a body before it
answers, even where it calls no function of ours.
"""

import contextlib
import heapq
import io
import itertools
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import flask
from werkzeug.exceptions import RequestEntityTooLarge, RequestTimeout

BODY_SECONDS: Final = 5.0
"""Deadline for a body, from the first read to the last byte."""

REFUSED_SECONDS: Final = 0.2
"""Deadline for the body of a refused request. A body that came with its headers is read in time, so
that the connection can be kept."""

MAX_BYTES: Final = 1_048_576
"""Limit for any body: a little more than the limit of any function."""

REFUSED_BYTES: Final = 65_536
"""Limit for the body of a refused request."""

_INPUT: Final = "wsgi.input"
_CHUNKED: Final = "HTTP_TRANSFER_ENCODING"

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


class _Alarm:
    """One timer thread for all bodies; a `threading.Timer` per body takes 0.1 ms of CPU."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def set(self, seconds: float, call: Callable[[], None]) -> None:
        """Call `call` after `seconds`."""
        entry = (time.monotonic() + seconds, next(self._numbers), call)
        with self._changed:
            heapq.heappush(self._due, entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="bodies", daemon=True)
                self._thread.start()
            elif self._due[0] is entry:
                self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while True:
                left = self._due[0][0] - time.monotonic() if self._due else None
                if left is None or left > 0:
                    self._changed.wait(left)
                else:
                    heapq.heappop(self._due)[2]()


_ALARM: Final = _Alarm()


class TimedBody:
    """The body of one request; replaces gunicorn's own object."""

    def __init__(self, body: Any, connection: socket.socket) -> None:
        self.late = False
        self._seconds = BODY_SECONDS
        self._left = MAX_BYTES
        self._body = body
        self._connection = connection
        self._begun = False
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, or all; fewer at the end of the body or of its limit."""
        if self._ended or not self._left:
            return b""
        size = self._left if size < 0 else min(size, self._left)
        if not self._begun:
            self._begun = True
            _ALARM.set(self._seconds, self._stop)
        try:
            found: bytes = self._body.read(size)
        except Exception:
            self._ended = True
            if not self.late:
                raise
            return b""
        self._left -= len(found)
        if len(found) < size:
            self._ended = True
        return found

    def hurry(self) -> None:
        """Lower the deadline and the limit: the request is refused."""
        self._begun = False
        self._seconds = REFUSED_SECONDS
        self._left = min(self._left, REFUSED_BYTES)

    def close(self) -> None:
        """Read the rest shortly, then stop."""
        self.hurry()
        with contextlib.suppress(Exception):
            self.read()
        self._stop()

    def _stop(self) -> None:
        """End the body: a waiting read returns."""
        if self._ended:
            return
        self.late = True
        with contextlib.suppress(OSError):  # the client has gone
            self._connection.shutdown(socket.SHUT_RD)


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
        body = environ[_INPUT] = TimedBody(environ[_INPUT], connection)
        try:
            return app(environ, start_response)
        finally:
            body.close()

    return serve


def hurry(request: flask.Request) -> None:
    """Wait only shortly for the body of a refused `request`."""
    body = request.environ.get(_INPUT)
    if isinstance(body, TimedBody):
        body.hurry()


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """The body of `request`; None where it is longer than `at_most` bytes.

    At most `at_most` bytes are read, even if Content-Length is missing or smaller.

    Raises:
        RequestTimeout: the body took longer than `BODY_SECONDS`.
    """
    request.max_content_length = at_most
    try:
        body = request.get_data()
    except RequestEntityTooLarge:
        # Without a stream the framework does not read the rest of the body before it answers.
        request.stream = io.BytesIO()
        return None
    source = request.environ.get(_INPUT)
    if isinstance(source, TimedBody) and source.late:
        raise RequestTimeout(f"Send the whole body within {BODY_SECONDS:.0f} seconds.")
    return body
