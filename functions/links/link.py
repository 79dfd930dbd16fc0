"""The kinds of links, and the admission of calls with a link.

The limit on calls comes first, which limits guessing, then the token. Callers check the arguments
before, which costs nothing, and read or write only after.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from functions.call_error import CallError, Code
from functions.clock import wire_time
from functions.links.client_address import client_address
from functions.links.token import MAX_LENGTH, InvalidTokenError, Scope, TokenKeys
from functions.rate_limit import MAX_CALLS, TooManyCallsError

if TYPE_CHECKING:
    import flask

    from functions.service import Service


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


def admitted(
    service: "Service",
    function: str,
    request: "flask.Request",
    token: str,
    link: Link,
) -> tuple[str, ...]:
    """The ids in `token`, if the client is within the limit; see `TokenKeys.verify`.

    Raises:
        CallError: `resource-exhausted` over the limit on calls, or the refusal of `link`.
        WeakKeyError: a version of the key of `link` is too short.
        Exception: Secret Manager could not be reached.
    """
    keys = service.adapters.secrets.versions(link.key)
    try:
        client = client_of(service, request)
        service.rate_limit(link.key).require(function, client, link.calls_an_hour)
        return TokenKeys(keys).verify(token, service.clock.now(), link.scope)
    except TooManyCallsError as error:
        raise CallError(
            Code.RESOURCE_EXHAUSTED,
            too_many_calls(error.until),
            {"possibleFrom": wire_time(error.until)},
        ) from None
    except InvalidTokenError:
        raise link.not_valid from None


def client_of(service: "Service", request: "flask.Request") -> str:
    """The client address under which a call is counted (spec 8)."""
    return client_address(
        request.headers.get("X-Forwarded-For", ""),
        request.remote_addr or "",
        trusted_hops=service.parameters.trusted_proxy_hops,
    )
