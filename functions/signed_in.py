"""Callables of staff: the caller's role, and the tenant's limit on calls.

Both are checked from the headers alone, before the body is read.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from firebase_functions.https_fn import AuthData

from functions import access, parameters
from functions.call_error import CallError, Code
from functions.gcp import callables


def signed_in(*, times: int = 1) -> Callable[[Any], Any]:
    """Serve a callable to staff; see `callables.signed_in`.

    A tenant has `times` its `STAFF_CALLS_AN_HOUR` calls of the function. A superadmin without a
    tenant has a limit of their own.
    """

    def served(declared: Any) -> Any:
        name = inspect.unwrap(declared).__name__
        return callables.signed_in(declared, functools.partial(admit, name, times))

    return served


def admit(function: str, times: int, identity: AuthData) -> None:
    """Check the role and count the call.

    Raises:
        CallError: `permission-denied` without a role, `resource-exhausted` over the limit.
        Exception: the call could not be counted.
    """
    from functions.signed_links import wiring  # noqa: PLC0415 - a cold start
    from functions.signed_links.limiter import TooManyCallsError  # noqa: PLC0415

    caller = access.staff(identity)
    counted = f"tenant {caller.tenant_id}" if caller.tenant_id else f"user {caller.uid}"
    at_most = times * parameters.STAFF_CALLS_AN_HOUR.value
    try:
        wiring.limiter().pass_or_raise(function, counted, secret="", at_most=at_most)
    except TooManyCallsError as error:
        raise CallError(
            Code.RESOURCE_EXHAUSTED,
            f"Your tenant has made its {at_most} calls of {function} this hour; call again from"
            f" {error.until:%H:%M} UTC on.",
        ) from None
