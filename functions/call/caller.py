"""Callers with a role, and their permission to act on an event (spec 5, design 3.2).

There are two steps, because the arguments are checked in between: `staff` reads the caller from the
ID token, and `check_event` decides about an event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NoReturn

from functions.call.errors import CallError, Code


class Role(StrEnum):
    """Role in the custom claim `role`."""

    MODERATOR = "moderator"
    ADMIN = "admin"
    SUPERADMIN = "superadmin"


STAFF: Final = frozenset(Role)
ADMINS: Final = frozenset({Role.ADMIN, Role.SUPERADMIN})
SUPERADMINS: Final = frozenset({Role.SUPERADMIN})


@dataclass(frozen=True, slots=True)
class Caller:
    """A signed-in user with a role.

    `tenant_id` is the claim `tenantId`, None if it is absent, or "", which matches no tenant, if it
    is not a string.
    """

    uid: str
    role: Role
    tenant_id: str | None
    email: str | None = None

    @property
    def record(self) -> Mapping[str, str | None]:
        """The user as stored in records of who did something."""
        return {"uid": self.uid, "email": self.email}


def staff(uid: str, claims: Mapping[str, Any], roles: frozenset[Role] = STAFF) -> Caller:
    """Return the caller if their `claims` grant one of `roles`.

    Raises:
        CallError: `permission-denied` without one of `roles`.
    """
    role = claims.get("role")
    if not isinstance(role, str) or role not in roles:
        needed = " or ".join(sorted(roles))
        _deny(f"The ID token needs the custom claim role: {needed}.")
    tenant_id = claims.get("tenantId")
    email = claims.get("email")
    return Caller(
        uid,
        Role(role),
        tenant_id if tenant_id is None or isinstance(tenant_id, str) else "",
        email if isinstance(email, str) and email else None,
    )


def check_event(
    caller: Caller, event: Mapping[str, Any] | None, requested_tenant_id: str | None
) -> Mapping[str, Any]:
    """Return the fields of `event` if `caller` may act on it (design 3.3).

    Raises:
        CallError: `permission-denied`, or `not-found` if `event` is None or a superadmin passes the
            `tenantId` of another tenant.
    """
    if event is None:
        raise CallError(Code.NOT_FOUND, "There is no event with that eventId.")
    tenant_id = event.get("tenantId")
    event_tenant = tenant_id if isinstance(tenant_id, str) and tenant_id else None
    if caller.role is Role.SUPERADMIN:
        if requested_tenant_id is not None:
            if requested_tenant_id != event_tenant:
                raise CallError(
                    Code.NOT_FOUND, "The tenant tenantId has no event with that eventId."
                )
        elif caller.tenant_id is not None and caller.tenant_id != event_tenant:
            _deny("The event belongs to another tenant. Pass its tenantId to act on it.")
        return event
    if requested_tenant_id is not None and requested_tenant_id != caller.tenant_id:
        _deny("Only a superadmin may act on another tenant. Omit tenantId.")
    if caller.tenant_id is None or caller.tenant_id != event_tenant:
        _deny("The event belongs to another tenant.")
    return event


def _deny(message: str) -> NoReturn:
    raise CallError(Code.PERMISSION_DENIED, message)
