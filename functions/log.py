"""Structured log lines: one JSON object each, as Cloud Logging reads them from standard output.

https://cloud.google.com/logging/docs/structured-logging
"""

import json
import sys
import traceback
from typing import TypeAlias

Field: TypeAlias = str | int | float | bool | None


def _write(severity: str, message: str, fields: dict[str, Field]) -> None:
    line = json.dumps({"severity": severity, "message": message, **fields}, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def info(message: str, **fields: Field) -> None:
    """Log what happened; `message` is a fixed name, what differs is in the fields."""
    _write("INFO", message, fields)


def warning(message: str, **fields: Field) -> None:
    """Log what somebody should look at."""
    _write("WARNING", message, fields)


def error(message: str, **fields: Field) -> None:
    """Log what has gone wrong for good."""
    _write("ERROR", message, fields)


def fault(message: str, exception: BaseException, **fields: Field) -> None:
    """Log an `exception` that nobody foresaw: its type and place, never its text.

    The text may hold what was sent to us; the place is the last line of ours that it came by.
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
