"""Bodies of requests, read within a limit and against one deadline.

A place of an instance is held while a body is being read, and gunicorn waits for as long as a
client drips. So `limit_reading` stands between gunicorn and the framework, which reads what is left
of a body itself before it answers, also where no function of ours is called.
"""

import contextlib
import io
import socket
import threading
from collections.abc import Callable
from typing import Any, Final

import flask
from werkzeug.exceptions import RequestEntityTooLarge, RequestTimeout

BODY_SECONDS: Final = 5.0
"""How long a body may take, from the first byte that is asked for to the last."""

REFUSED_SECONDS: Final = 0.2
"""The same for the body of a request that is refused already. A body that comes with its headers is
there, and the connection can be kept."""

_LEFT_BYTES: Final = 65_536
"""How much of a body that nobody wants is read, so that the client gets its answer."""

_INPUT: Final = "wsgi.input"
_CHUNKED: Final = "HTTP_TRANSFER_ENCODING"

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


class TimedBody:
    """The body of one request, in the place of gunicorn's own."""

    def __init__(self, body: Any, connection: socket.socket) -> None:
        self.seconds = BODY_SECONDS
        self.late = False
        self._body = body
        self._connection = connection
        self._timer: threading.Timer | None = None
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, or all; fewer at the end of the body, or of its time."""
        if self._ended:
            return b""
        if self._timer is None:
            self._timer = threading.Timer(self.seconds, self._stop)
            self._timer.daemon = True
            self._timer.start()
        try:
            found: bytes = self._body.read(None if size < 0 else size)
        except Exception:
            self._end()
            if not self.late:
                raise
            return b""
        if size < 0 or len(found) < size:
            self._end()
        return found

    def close(self) -> None:
        """Leave the rest of the body: nobody waits for it any more."""
        if not self._ended:
            self.seconds = REFUSED_SECONDS
            if self._timer:
                self._timer.cancel()
                self._timer = None
            with contextlib.suppress(Exception):
                self.read(_LEFT_BYTES)
        if not self._ended:
            self._end()
            self._stop()

    def _end(self) -> None:
        self._ended = True
        if self._timer:
            self._timer.cancel()

    def _stop(self) -> None:
        """End the reading; whoever waits for a byte gets the end of the body."""
        self.late = True
        with contextlib.suppress(OSError):  # the client has gone
            self._connection.shutdown(socket.SHUT_RD)


def limit_reading() -> None:
    """Give the bodies of all requests of this process a deadline, whatever their path."""
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
        body.seconds = REFUSED_SECONDS


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
