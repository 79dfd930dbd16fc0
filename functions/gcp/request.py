"""HTTP requests: body size limit and deadline, plain-text responses, and log fields.

A slow body occupies a thread of the instance, and gunicorn sets no deadline. functions-framework
reads the rest of a body before it responds, without a limit, and fails if the body is malformed.

https://cloud.google.com/logging/docs/structured-logging#special-payload-fields
"""

import io
import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from functions.environment import project_id

BODY_SECONDS: Final = 6.0
"""Deadline for reading a body. Long enough for a phone in a short tunnel."""

_LATE: Final = f"Send the whole body within {BODY_SECONDS:.0f} seconds."
_MALFORMED: Final = "The request body is incomplete or malformed."

_REST_BYTES: Final = 1_048_576
"""Maximum bytes to drain from a body that is too long, so that its connection can be kept."""

REST_SECONDS: Final = 1.0
"""Seconds to keep draining a client that is still sending, so that it can read the response. With a
longer time, anonymous callers with rejected headers would block the functions of organizers."""

_PAUSE_SECONDS: Final = 0.3
"""Seconds without data after which a client can read the response."""

_PIECE: Final = 65_536


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """Return the body of `request`, or None if it is longer than `at_most` bytes.

    At most one byte more is read, even if Content-Length is missing or smaller.

    Raises:
        BadRequest: The body is malformed or was not received in time (see the description).
    """
    request.max_content_length = at_most + 1  # a chunked body is truncated there without an error
    connection, is_late = request.environ.get("gunicorn.socket"), threading.Event()

    def end() -> None:
        is_late.set()
        if connection:
            _shutdown_read(connection)

    timer = threading.Timer(BODY_SECONDS, end)
    timer.start()
    body: bytes | None = None
    try:
        with suppress(RequestEntityTooLarge):
            body = request.get_data()
        if body is None or len(body) > at_most:
            with suppress(Exception):  # the rest is ignored
                _drain(request.environ["wsgi.input"])
            return None
    except Exception as error:  # errors of gunicorn and of the connection
        raise BadRequest(_LATE if is_late.is_set() else _MALFORMED) from error
    finally:
        timer.cancel()
    if is_late.is_set():
        raise BadRequest(_LATE)
    return body


def install_drain_hook() -> None:
    """Respond within `REST_SECONDS`, even if the request's body is incomplete."""
    # A deploy imports `main.py` during a request of its own or without an app.
    if flask.has_app_context() and not flask.has_request_context():
        flask.current_app.before_request(_drop_rest)


def _drop_rest() -> None:
    @flask.after_this_request  # runs before the framework reads the body
    def drop(response: flask.Response) -> flask.Response:
        environ = flask.request.environ
        if connection := environ.get("gunicorn.socket"):
            connection.settimeout(0.0)
            try:
                is_complete = _drain(environ["wsgi.input"])
            except Exception:  # noqa: BLE001 - the body is incomplete or malformed
                is_complete = False
            if not is_complete:
                _wait_for_pause(connection)
                _shutdown_read(connection)
            connection.settimeout(None)
        flask.request.stream = io.BytesIO()
        return response


def _drain(body: Any) -> bool:
    """Read at most `_REST_BYTES` of `body` and return whether the body ended."""
    return any(not body.read(_PIECE) for _ in range(_REST_BYTES // _PIECE))


def _wait_for_pause(connection: socket.socket) -> None:
    """Read until the client pauses, for at most `REST_SECONDS`."""
    until = time.monotonic() + REST_SECONDS
    connection.settimeout(_PAUSE_SECONDS)
    with suppress(OSError):  # a pause, or the client has disconnected
        while time.monotonic() < until and connection.recv(_PIECE):
            pass


def _shutdown_read(connection: socket.socket) -> None:
    """Shut down the receiving side of `connection`, so that pending reads end."""
    with suppress(OSError):  # the client has disconnected
        connection.shutdown(socket.SHUT_RD)


def text_answer(status: HTTPStatus, text: str, **headers: str) -> flask.Response:
    """Return a plain-text response that must not be cached: the URL may contain a token."""
    answer = flask.Response(f"{text}\n", status, headers, mimetype="text/plain")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


_EXECUTION_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TRACE: Final = re.compile(r"([0-9a-f]{32})(?:/.*)?", re.IGNORECASE)


def request_fields() -> Mapping[str, Any]:
    """Return the log fields of the current request: execution ID and trace, if there are any."""
    if not flask.has_request_context():
        return {}
    headers = flask.request.headers
    fields: dict[str, Any] = {}
    execution_id = headers.get("Function-Execution-Id", "")
    if _EXECUTION_ID.fullmatch(execution_id):
        fields["logging.googleapis.com/labels"] = {"execution_id": execution_id}
    if trace := _TRACE.fullmatch(headers.get("X-Cloud-Trace-Context", "")):
        fields["logging.googleapis.com/trace"] = f"projects/{project_id()}/traces/{trace[1]}"
    return fields
