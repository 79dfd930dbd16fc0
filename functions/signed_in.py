"""Callables of staff: the role, the arguments, and the limit on one person's calls.

The checks come in this order (design 3.3): ID token, role, arguments, count, and then those of the
use case. A call that is refused for its role or its arguments is not counted.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from firebase_functions.https_fn import CallableRequest

from functions import access
from functions.call_error import CallError, Code
from functions.clock import wire_time
from functions.gcp import callables

if TYPE_CHECKING:
    from functions.service import Service

A = TypeVar("A")


def signed_in(declared: Any) -> Any:
    """Serve a callable to staff; see `callables.signed_in`.

    Other callers are refused before the body is read. The handler calls `staff_call`.
    """
    return callables.signed_in(declared, access.staff)


def staff_call(
    service: "Service",
    function: str,
    request: CallableRequest[Any],
    read: Callable[[Any], A],
    *,
    roles: frozenset[access.Role] = access.STAFF,
    times: int = 1,
) -> tuple[access.Caller, A]:
    """The caller with one of `roles`, and what `read` makes of the arguments; counts the call.

    A person has `times` `STAFF_CALLS_AN_HOUR` calls of `function` in an hour (spec 8).

    Raises:
        CallError: `permission-denied` for another role, `invalid-argument` from `read`,
            `resource-exhausted` over the limit.
        Exception: the call could not be counted.
    """
    from functions.rate_limit import TooManyCallsError  # noqa: PLC0415 - a cold start

    caller = access.staff(request.auth, roles)
    arguments = read(request.data)
    at_most = times * service.parameters.staff_calls_an_hour
    try:
        service.limiter.pass_or_raise(function, f"user {caller.uid}", secret="", at_most=at_most)
    except TooManyCallsError as error:
        raise CallError(
            Code.RESOURCE_EXHAUSTED,
            f"You have made your {at_most} calls of {function} this hour; call again from"
            f" {error.until:%H:%M} UTC on.",
            {"reason": "calls", "possibleFrom": wire_time(error.until)},
        ) from None
    return caller, arguments
