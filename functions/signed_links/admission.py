"""Admits calls with a link: the limit on calls first, which limits guessing, then the token.

Callers check the arguments before, which costs nothing, and read or write only after.
"""

from typing import TYPE_CHECKING

import flask

from functions.call_error import CallError, Code
from functions.signed_links.client_address import client_address
from functions.signed_links.limiter import TooManyCallsError
from functions.signed_links.link import Link, too_many_calls
from functions.signed_links.token import InvalidTokenError, TokenKeys
from functions.timestamps import wire_time

if TYPE_CHECKING:
    from functions.service import Service


def admitted(
    service: "Service",
    function: str,
    request: flask.Request,
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
        service.limiter.pass_or_raise(function, client, keys[0], link.calls_an_hour)
        return TokenKeys(keys).verify(token, service.clock.now(), link.scope)
    except TooManyCallsError as error:
        raise CallError(
            Code.RESOURCE_EXHAUSTED,
            too_many_calls(error.until),
            {"possibleFrom": wire_time(error.until)},
        ) from None
    except InvalidTokenError:
        raise link.not_valid from None


def client_of(service: "Service", request: flask.Request) -> str:
    """The client address under which a call is counted (spec 8)."""
    return client_address(
        request.headers.get("X-Forwarded-For", ""),
        request.remote_addr or "",
        trusted_hops=service.parameters.trusted_proxy_hops,
    )
