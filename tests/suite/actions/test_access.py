"""Who may do what an organizer does, and in which order that is checked (spec 5, design 3)."""

from typing import Any, Final

import flask
import pytest
from firebase_functions.https_fn import AuthData, CallableRequest
from werkzeug.test import EnvironBuilder

from functions.call_error import CallError, Code
from functions.webhooks.actions import handlers
from tests.suite.actions.conftest import TENANT, Configure

UNAUTHENTICATED: Final = Code.UNAUTHENTICATED
DENIED: Final = Code.PERMISSION_DENIED
INVALID: Final = Code.INVALID_ARGUMENT
NOT_FOUND: Final = Code.NOT_FOUND

TEST: Final = (handlers.send_test, {"url": "https://example.com/not-configured"}, INVALID)
RESEND: Final = (handlers.resend, {"deliveryId": "none"}, NOT_FOUND)
ROTATE: Final[tuple[Any, dict[str, Any], None]] = (handlers.rotate_secret, {}, None)


def outcome(handler: Any, data: object, claims: dict[str, Any] | None) -> Code | None:
    """The code that a caller with these claims is refused with; None where it goes well."""
    auth = None if claims is None else AuthData(uid="u1", token=claims)
    raw = flask.Request(EnvironBuilder().get_environ())
    try:
        handler(CallableRequest(data=data, raw_request=raw, auth=auth))
    except CallError as refused:
        return refused.code
    return None


@pytest.mark.parametrize(
    ("claims", "tenant_id", "admin", "superadmin"),
    [
        # claims                                         tenantId      test, resend     rotate
        ({"role": "moderator", "tenantId": TENANT}, None, DENIED, DENIED),
        ({"role": "admin", "tenantId": TENANT}, None, None, DENIED),
        ({"role": "admin", "tenantId": "tenant-b"}, None, DENIED, DENIED),
        ({"role": "superadmin", "tenantId": "tenant-b"}, TENANT, None, None),
        ({"role": "superadmin"}, "tenant-b", NOT_FOUND, NOT_FOUND),
    ],
)
def test_roles_and_tenants(
    claims: dict[str, Any],
    tenant_id: str | None,
    admin: Code | None,
    superadmin: Code | None,
    event_id: str,
    configure: Configure,
) -> None:
    """Admins of the tenant test and resend, superadmins rotate; None is let through.

    `tests/unit/test_access.py` has every row of design 3.
    """
    configure("https://example.com/hook")
    for (handler, arguments, if_allowed), refused in (
        (TEST, admin),
        (RESEND, admin),
        (ROTATE, superadmin),
    ):
        data = {"eventId": event_id, "tenantId": tenant_id} | arguments
        assert outcome(handler, data, claims) == (refused or if_allowed), handler.__name__


@pytest.mark.parametrize(("handler", "arguments", "_"), [TEST, RESEND, ROTATE])
def test_the_role_comes_before_the_arguments_and_they_before_the_event(
    handler: Any, arguments: dict[str, Any], _: object, event_id: str
) -> None:
    """Design 3: ID token, role, arguments, event, tenant."""
    superadmin = {"role": "superadmin"}
    assert outcome(handler, None, None) == UNAUTHENTICATED
    assert outcome(handler, None, {}) == DENIED
    assert outcome(handler, None, superadmin) == INVALID
    assert outcome(handler, {"eventId": event_id} | arguments, superadmin) == NOT_FOUND
