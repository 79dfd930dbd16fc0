"""Roles and tenants (spec 5, design 3.2)."""

from typing import Any

import pytest

from functions.call.caller import Caller, Role, check_event, staff
from functions.call.errors import CallError, Code


@pytest.mark.parametrize(
    ("claims", "caller"),
    [
        ({"role": "admin", "tenantId": "t"}, Caller("u", Role.ADMIN, "t")),
        ({"role": "moderator", "tenantId": "t"}, Caller("u", Role.MODERATOR, "t")),
        ({"role": "superadmin"}, Caller("u", Role.SUPERADMIN, None)),
        ({"role": "superadmin", "email": "a@b.c"}, Caller("u", Role.SUPERADMIN, None, "a@b.c")),
        ({"role": "superadmin", "tenantId": ""}, Caller("u", Role.SUPERADMIN, "")),
        ({"role": "superadmin", "tenantId": 7}, Caller("u", Role.SUPERADMIN, "")),
        ({"role": "guest"}, None),
        ({"role": ["admin"]}, None),
        ({"role": None}, None),
        ({}, None),
    ],
)
def test_only_a_known_role_claim_is_staff(claims: dict[str, Any], caller: Caller | None) -> None:
    """See design 3.1."""
    if caller:
        assert staff("u", claims) == caller
    else:
        with pytest.raises(CallError) as denied:
            staff("u", claims)
        assert denied.value.code is Code.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("role", "own", "event", "asked", "code"),
    [
        (Role.ADMIN, "t", "t", None, None),
        (Role.MODERATOR, "t", "t", None, None),
        (Role.ADMIN, "t", "t", "t", None),
        (Role.ADMIN, "t", "o", None, Code.PERMISSION_DENIED),
        (Role.ADMIN, "t", "o", "o", Code.PERMISSION_DENIED),
        (Role.ADMIN, "t", "t", "o", Code.PERMISSION_DENIED),
        (Role.ADMIN, None, "t", None, Code.PERMISSION_DENIED),
        (Role.ADMIN, None, None, None, Code.PERMISSION_DENIED),
        (Role.ADMIN, "", "", None, Code.PERMISSION_DENIED),
        (Role.SUPERADMIN, None, "t", None, None),
        (Role.SUPERADMIN, None, None, None, None),
        (Role.SUPERADMIN, "t", "t", None, None),
        (Role.SUPERADMIN, "t", "o", None, Code.PERMISSION_DENIED),
        (Role.SUPERADMIN, "", "t", None, Code.PERMISSION_DENIED),
        (Role.SUPERADMIN, "", "", None, Code.PERMISSION_DENIED),
        (Role.SUPERADMIN, "t", "o", "o", None),
        (Role.SUPERADMIN, None, "o", "o", None),
        (Role.SUPERADMIN, "t", "t", "o", Code.NOT_FOUND),
        (Role.SUPERADMIN, None, None, "o", Code.NOT_FOUND),
    ],
)
def test_access_depends_on_the_tenants_of_caller_event_and_argument(
    role: Role, own: str | None, event: str | None, asked: str | None, code: Code | None
) -> None:
    """See design 3.2."""
    caller = Caller("u", role, own)
    if code is None:
        check_event(caller, {"tenantId": event}, asked)
    else:
        with pytest.raises(CallError) as refused:
            check_event(caller, {"tenantId": event}, asked)
        assert refused.value.code is code
