"""Admits calls with a link: the limit on calls first, which limits guessing, then the token.

Callers check the arguments before, which costs nothing, and read or write only after.
"""

from collections.abc import Sequence

import flask

from functions import parameters
from functions.call_error import CallError, Code
from functions.signed_links import wiring
from functions.signed_links.client_address import client_address
from functions.signed_links.limiter import TooManyCallsError
from functions.signed_links.link import TOO_MANY_CALLS, Link
from functions.signed_links.token import InvalidTokenError, TokenKeys
from functions.timestamps import wire_time


def admitted(
    function: str,
    request: flask.Request,
    token: str,
    link: Link,
    keys: Sequence[str],
) -> tuple[str, ...]:
    """The ids in `token`, if the client is within the limit; see `TokenKeys.verify`.

    Raises:
        CallError: `resource-exhausted` over the limit on calls, or the refusal of `link`.
        WeakKeyError: one of the `keys`, of which the newest comes first, is too short.
    """
    try:
        wiring.limiter().pass_or_raise(function, client_of(request), keys[0], link.calls_an_hour)
        return TokenKeys(keys).verify(token, wiring.now(), link.scope)
    except TooManyCallsError as error:
        raise CallError(
            Code.RESOURCE_EXHAUSTED, TOO_MANY_CALLS, {"possibleFrom": wire_time(error.until)}
        ) from None
    except InvalidTokenError:
        raise link.not_valid from None


def client_of(request: flask.Request) -> str:
    """The client address under which a call is counted (spec 8)."""
    return client_address(
        request.headers.get("X-Forwarded-For", ""),
        request.remote_addr or "",
        trusted_hops=parameters.TRUSTED_PROXY_HOPS.value,
    )
