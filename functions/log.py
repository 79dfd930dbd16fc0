"""Structured logging: one JSON object per line on standard output, for Cloud Logging.

https://cloud.google.com/logging/docs/structured-logging
"""

import io
import json
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Field: TypeAlias = str | int | float | bool | None

_STANDARD_OUTPUT: Final = io.FileIO(1, "w", closefd=False)
"""The file descriptor itself. functions-framework replaces `sys.stdout` by an object that writes a
line and its newline separately, which mixes the lines of concurrent requests."""

_encode: Final = json.JSONEncoder(ensure_ascii=False).encode
_writing: Final = threading.Lock()
_request_fields: Callable[[], Mapping[str, Any]] = dict


def describe_requests_with(fields: Callable[[], Mapping[str, Any]]) -> None:
    """Add the `fields` of the current request to every line."""
    global _request_fields  # noqa: PLW0603 - set once, by `main.py`
    _request_fields = fields


def _write(severity: str, message: str, fields: Mapping[str, Field]) -> None:
    entry = {"severity": severity, "message": message, **fields, **_request_fields()}
    left = f"{_encode(entry)}\n".encode(errors="replace")
    with _writing:
        while left:
            left = left[_STANDARD_OUTPUT.write(left) :]


def info(message: str, **fields: Field) -> None:
    """Log an event. `message` is a fixed name, and `fields` contain the values."""
    _write("INFO", message, fields)


def warning(message: str, **fields: Field) -> None:
    """Log an event that an operator should look at."""
    _write("WARNING", message, fields)


def error(message: str, **fields: Field) -> None:
    """Log a final failure."""
    _write("ERROR", message, fields)


def fault(message: str, exception: BaseException, **fields: Field) -> None:
    """Log the type and place of an unexpected `exception`, but never its text.

    The text may contain data of the request. The place is the innermost line of `functions`.
    """
    frames = [
        f"{frame.f_globals.get('__name__', '?')}:{line}"
        for frame, line in traceback.walk_tb(exception.__traceback__)
    ]
    ours = [frame for frame in frames if frame.startswith("functions.")]
    kind = type(exception)
    _write(
        "ERROR",
        message,
        {
            "exception": f"{kind.__module__}.{kind.__qualname__}",
            "at": (ours or frames or ["?"])[-1],
            **fields,
        },
    )
