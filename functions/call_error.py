"""A refusal that a callable answers with (spec 7): raised by pure code, answered at the edge."""

from collections.abc import Mapping
from enum import StrEnum


class Code(StrEnum):
    """The codes of the callable protocol that the service answers with."""

    INVALID_ARGUMENT = "invalid-argument"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission-denied"
    NOT_FOUND = "not-found"
    FAILED_PRECONDITION = "failed-precondition"
    ABORTED = "aborted"
    RESOURCE_EXHAUSTED = "resource-exhausted"
    INTERNAL = "internal"


class CallError(Exception):
    """Carries what the caller is told: `code`, and a `message` that says what to change.

    `details` are the facts of the message for programs, where it has some: JSON's types alone.
    """

    def __init__(
        self, code: Code, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
