"""Bodies of requests, read within a limit and against one deadline.

A place of an instance is held while a body is being read, and gunicorn waits for as long as a
client drips. So `limit_reading` stands between gunicorn and the framework, which reads what is left
of a body itself before it answers, also where no function of ours is called.
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
"""How long a body may take, from the first byte that is asked for to the last."""

REFUSED_SECONDS: Final = 0.2
"""The same for the body of a request that is refused already. A body that comes with its headers is
there, and the connection can be kept."""

MOST_BYTES: Final = 1_048_576
"""How much of any body is read: a little more than the longest that a function takes."""

REFUSED_BYTES: Final = 65_536
"""The same for the body of a request that is refused already."""

_INPUT: Final = "wsgi.input"
_CHUNKED: Final = "HTTP_TRANSFER_ENCODING"

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


class _Alarm:
    """One thread that calls back, for all bodies: a `threading.Timer` each takes 0.1 ms of CPU."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def set(self, seconds: float, call: Callable[[], None]) -> None:
        """Have `call` called after so many seconds."""
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
    """The body of one request, in the place of gunicorn's own."""

    def __init__(self, body: Any, connection: socket.socket) -> None:
        self.late = False
        self._seconds = BODY_SECONDS
        self._left = MOST_BYTES
        self._body = body
        self._connection = connection
        self._begun = False
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, or all; fewer at the end of the body, or of its share."""
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
        """Nobody wants the body: only its beginning is read, and only shortly."""
        self._begun = False
        self._seconds = REFUSED_SECONDS
        self._left = min(self._left, REFUSED_BYTES)

    def close(self) -> None:
        """Leave the rest of the body: nobody waits for it any more."""
        self.hurry()
        with contextlib.suppress(Exception):
            self.read()
        self._stop()

    def _stop(self) -> None:
        """End the reading: a thread that waits for a byte gets the end of the body."""
        if self._ended:
            return
        self.late = True
        with contextlib.suppress(OSError):  # the client has gone
            self._connection.shutdown(socket.SHUT_RD)


def limit_reading() -> None:
    """Give the bodies of all requests of this process a deadline, on every path."""
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
    """Wait only shortly for the body of a `request` that is refused already."""
    body = request.environ.get(_INPUT)
    if isinstance(body, TimedBody):
        body.hurry()


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """The body of `request`; None where it is longer than `at_most` bytes.

    At most `at_most` bytes are read, even if Content-Length is missing or smaller.

    Raises:
        RequestTimeout: it did not come within `BODY_SECONDS`.
    """
    request.max_content_length = at_most
    try:
        body = request.get_data()
    except RequestEntityTooLarge:
        # The framework reads what is left of a body before it answers.
        request.stream = io.BytesIO()
        return None
    source = request.environ.get(_INPUT)
    if isinstance(source, TimedBody) and source.late:
        raise RequestTimeout(f"Send the whole body within {BODY_SECONDS:.0f} seconds.")
    return body
