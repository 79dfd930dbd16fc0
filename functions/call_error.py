"""The error of a callable (spec 7): pure code raises it, `callables` turns it into an answer."""

from collections.abc import Mapping
from enum import StrEnum


class Code(StrEnum):
    """The error codes that the service uses, from the callable protocol."""

    INVALID_ARGUMENT = "invalid-argument"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission-denied"
    NOT_FOUND = "not-found"
    FAILED_PRECONDITION = "failed-precondition"
    ABORTED = "aborted"
    RESOURCE_EXHAUSTED = "resource-exhausted"
    INTERNAL = "internal"


class CallError(Exception):
    """The answer to a refused call: `code`, and a `message` that says what to change.

    `details` holds the facts of the message for programs, as JSON values.
    """

    def __init__(
        self, code: Code, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
