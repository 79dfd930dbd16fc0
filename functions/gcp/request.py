"""Requests: bodies within a size limit and a deadline, answers, and fields of a log line.

A slow body occupies a thread of the instance, and gunicorn sets no deadline. functions-framework
reads what is left of a body before it answers, without a limit, and fails where it is malformed.

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

from functions.parameters import project_id

BODY_SECONDS: Final = 6.0
"""Limit for reading a body: long enough for a phone in a short tunnel."""

_LATE: Final = f"Send the whole body within {BODY_SECONDS:.0f} seconds."
_MALFORMED: Final = "Send a whole body, well framed."

_REST_BYTES: Final = 1_048_576
"""Bytes read of a body that is too long, to keep its connection."""

REST_SECONDS: Final = 1.0
"""How long a client that still sends is read from before its connection ends: it would miss the
answer. With a longer time, strangers whose headers are refused hold the places of organizers."""

_PAUSE_SECONDS: Final = 0.3
"""A client that sends nothing for so long can read the answer."""

_PIECE: Final = 65_536


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """The body of `request`; None where it is longer than `at_most` bytes.

    At most a byte more is read, even if Content-Length is missing or smaller.

    Raises:
        BadRequest: the body is malformed, or has not arrived in time; the description says which.
    """
    request.max_content_length = at_most + 1  # a body in chunks is cut there, without an error
    connection, is_late = request.environ.get("gunicorn.socket"), threading.Event()

    def end() -> None:
        is_late.set()
        if connection:
            _end(connection)

    timer = threading.Timer(BODY_SECONDS, end)
    timer.start()
    body: bytes | None = None
    try:
        with suppress(RequestEntityTooLarge):
            body = request.get_data()
        if body is None or len(body) > at_most:
            with suppress(Exception):  # the rest is of no use
                _ends(request.environ["wsgi.input"])
            return None
    except Exception as error:  # gunicorn's own, and those of the connection
        raise BadRequest(_LATE if is_late.is_set() else _MALFORMED) from error
    finally:
        timer.cancel()
    if is_late.is_set():
        raise BadRequest(_LATE)
    return body


def read_no_more() -> None:
    """Answer within `REST_SECONDS`, even if a part of the request's body is still to come."""
    # A deploy reads `main.py` in a request of its own, or without an app.
    if flask.has_app_context() and not flask.has_request_context():
        flask.current_app.before_request(_drop_rest)


def _drop_rest() -> None:
    @flask.after_this_request  # which comes before the framework's own step
    def drop(response: flask.Response) -> flask.Response:
        environ = flask.request.environ
        if connection := environ.get("gunicorn.socket"):
            connection.settimeout(0.0)
            try:
                has_come = _ends(environ["wsgi.input"])
            except Exception:  # noqa: BLE001 - it has not come whole, or is malformed
                has_come = False
            if not has_come:
                _wait_for_pause(connection)
                _end(connection)
            connection.settimeout(None)
        flask.request.stream = io.BytesIO()
        return response


def _ends(body: Any) -> bool:
    """Read the rest of `body`; whether it ends after `_REST_BYTES` at most."""
    return any(not body.read(_PIECE) for _ in range(_REST_BYTES // _PIECE))


def _wait_for_pause(connection: socket.socket) -> None:
    """Read until the client pauses, `REST_SECONDS` at most."""
    until = time.monotonic() + REST_SECONDS
    connection.settimeout(_PAUSE_SECONDS)
    with suppress(OSError):  # a pause, or the client has gone
        while time.monotonic() < until and connection.recv(_PIECE):
            pass


def _end(connection: socket.socket) -> None:
    """Let reads of `connection` find its end."""
    with suppress(OSError):  # the client has gone
        connection.shutdown(socket.SHUT_RD)


def text_answer(status: HTTPStatus, text: str, **headers: str) -> flask.Response:
    """An answer in plain text, which nobody may keep: the request's URL may hold a token."""
    answer = flask.Response(f"{text}\n", status, headers, mimetype="text/plain")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


_EXECUTION_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TRACE: Final = re.compile(r"([0-9a-f]{32})(?:/.*)?", re.IGNORECASE)


def of_request() -> Mapping[str, Any]:
    """The execution id of functions-framework, and the trace, where they exist."""
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
