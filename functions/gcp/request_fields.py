"""The fields of a log line that identify the current request.

https://cloud.google.com/logging/docs/structured-logging#special-payload-fields
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import flask

from functions.project import project_id

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
