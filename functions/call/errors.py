"""Errors that a call returns to its client (spec 7)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn


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


def refuse(message: str) -> NoReturn:
    """Refuse the call.

    Raises:
        CallError: `invalid-argument` with that message.
    """
    raise CallError(Code.INVALID_ARGUMENT, message)
