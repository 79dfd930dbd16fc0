"""What whoever calls with the token of a link is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from functions.call_error import CallError, Code
from functions.signed_links.token import MAX_LENGTH

TOO_MANY_CALLS: Final = "There were too many calls from this address; try again in an hour."


@dataclass(frozen=True, slots=True)
class Link:
    """A kind of link: what it is, and where a better one is to be had.

    There is one refusal for every reason, so that it tells none of them (spec 5).
    """

    what: str
    instead: str

    @property
    def not_valid(self) -> CallError:
        """The refusal of a token."""
        message = f"The link is not valid (any more); {self.instead}."
        return CallError(Code.PERMISSION_DENIED, message)

    def token(self, data: object) -> str:
        """The token among the parameters; whether it is a good one is not looked at here.

        Raises:
            CallError: `invalid-argument`, where it is missing or too long (spec 7.2).
        """
        token = data.get("token") if isinstance(data, Mapping) else None
        if not isinstance(token, str) or not token:
            raise CallError(Code.INVALID_ARGUMENT, f"token must be the token of {self.what}.")
        if len(token) > MAX_LENGTH:
            raise CallError(
                Code.INVALID_ARGUMENT, f"token must have at most {MAX_LENGTH} characters."
            )
        return token


IN_A_MAIL: Final = Link("a link in a mail", "use the one in a newer mail")
TO_A_LOG: Final = Link("a link to a delivery log", "ask whoever has given it to you for a new one")
