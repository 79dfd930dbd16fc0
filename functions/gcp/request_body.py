"""Reads request bodies within a size limit and a deadline.

A slow body occupies a thread of the instance, and gunicorn sets no deadline for a body that the
application reads. A body that nobody reads is gunicorn's to drop, within five seconds.
"""

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import flask
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

BODY_SECONDS: Final = 6.0
"""Limit for reading a body: long enough for a phone in a short tunnel."""

_REST_BYTES: Final = 1_048_576
"""What is read of a body that is too long: a client that still sends may miss the answer."""

_PIECE: Final = 65_536


def bounded_body(request: flask.Request, at_most: int) -> bytes | None:
    """The body of `request`; None where it is longer than `at_most` bytes.

    At most `at_most` bytes are read, even if Content-Length is missing or smaller.

    Raises:
        BadRequest: the body is malformed, or has not arrived in time; the description says which.
    """
    request.max_content_length = at_most
    with _deadline(request.environ.get("gunicorn.socket")) as passed:
        try:
            return request.get_data()
        except RequestEntityTooLarge:
            with suppress(Exception):  # the rest is of no use
                for _ in range(_REST_BYTES // _PIECE):
                    request.environ["wsgi.input"].read(_PIECE)
            return None
        except Exception as error:  # gunicorn's own, and those of the connection
            text = f"Send the whole body within {BODY_SECONDS:.0f} seconds."
            raise BadRequest(
                text if passed.is_set() else "Send a whole body, well framed."
            ) from error


@contextmanager
def _deadline(connection: socket.socket | None) -> Iterator[threading.Event]:
    """Let reads of `connection` find its end after `BODY_SECONDS`, and set the event."""
    passed = threading.Event()

    def end() -> None:
        passed.set()
        with suppress(OSError):  # the client has gone
            if connection:
                connection.shutdown(socket.SHUT_RD)

    timer = threading.Timer(BODY_SECONDS, end)
    timer.start()
    try:
        yield passed
    finally:
        timer.cancel()


def read_no_more() -> None:
    """Answer without the bodies that no function has read.

    functions-framework would read the rest of each without any limit, and fail where it is
    malformed.
    """
    if flask.has_app_context():  # else a deploy reads `main.py`
        flask.current_app.before_request(_drop_rest)


def _drop_rest() -> None:
    @flask.after_this_request  # which comes before the framework's own step
    def drop(response: flask.Response) -> flask.Response:
        flask.request.stream = io.BytesIO()
        return response
