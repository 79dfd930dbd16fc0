"""Errors that a call returns to its client (spec 7)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn


class Code(StrEnum):
    """Error code of the callable protocol."""

    INVALID_ARGUMENT = "invalid-argument"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission-denied"
    NOT_FOUND = "not-found"
    FAILED_PRECONDITION = "failed-precondition"
    ABORTED = "aborted"
    RESOURCE_EXHAUSTED = "resource-exhausted"
    INTERNAL = "internal"


class CallError(Exception):
    """Error that is returned to the client, with a `code` and a `message` with instructions.

    `details` has the facts of the message as JSON values, for programs.
    """

    def __init__(
        self, code: Code, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


def refuse(message: str) -> NoReturn:
    """Raise CallError with the code `invalid-argument`."""
    raise CallError(Code.INVALID_ARGUMENT, message)
