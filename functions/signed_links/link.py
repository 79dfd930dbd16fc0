"""The kinds of links, and the errors for calls with a link."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.call_error import CallError, Code
from functions.signed_links.token import MAX_LENGTH, Scope

MAX_CALLS: Final = 20
"""Calls of a function an hour from one address (spec 8), where a link has no other number."""


def too_many_calls(until: datetime) -> str:
    """The message of a refusal over the limit on calls, which ends at `until`."""
    return f"There were too many calls from this address; try again from {until:%H:%M} UTC on."


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link: its name, how to get a valid one, the scope of its tokens and their key.

    `key` is the name of a secret, each enabled version of which verifies.

    An address has `calls_an_hour` of each function of the link.

    All refusals have the same text, so that it does not reveal the reason (spec 5).
    """

    name: str
    instead: str
    scope: Scope
    key: str
    calls_an_hour: int = MAX_CALLS

    @property
    def not_valid(self) -> CallError:
        """The error for an invalid token."""
        message = f"The link is not valid (any more); {self.instead}."
        return CallError(Code.PERMISSION_DENIED, message)

    def token(self, data: object) -> str:
        """The token in the parameters; it is not verified here.

        Raises:
            CallError: `invalid-argument`, where it is missing or too long (spec 7.2).
        """
        token = data.get("token") if isinstance(data, Mapping) else None
        if not isinstance(token, str) or not token:
            raise CallError(Code.INVALID_ARGUMENT, f"token must be the token of {self.name}.")
        if len(token) > MAX_LENGTH:
            raise CallError(
                Code.INVALID_ARGUMENT, f"token must have at most {MAX_LENGTH} characters."
            )
        return token


IN_A_MAIL: Final = Link(
    "a link in a mail", "use the one in a newer mail", Scope.PREFERENCES, "EMAIL_PREFS_KEY"
)
TO_A_LOG: Final = Link(
    "a link to a delivery log",
    "ask the sender of the link for a new one",
    Scope.WEBHOOK_LOG,
    "LOG_LINKS_KEY",
    calls_an_hour=120,  # the developer of a receiver looks again after each change
)
