"""Callers with a role, and their permission to act on an event (spec 5, design 3.2).

There are two steps, because arguments are checked in between: `staff` reads the caller from the ID
token, `check_event` decides about an event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NoReturn

from functions.call.errors import CallError, Code


class Role(StrEnum):
    """The roles in the custom claim `role`."""

    MODERATOR = "moderator"
    ADMIN = "admin"
    SUPERADMIN = "superadmin"


STAFF: Final = frozenset(Role)
ADMINS: Final = frozenset({Role.ADMIN, Role.SUPERADMIN})
SUPERADMINS: Final = frozenset({Role.SUPERADMIN})


@dataclass(frozen=True, slots=True)
class Caller:
    """A signed-in user with a role.

    `tenant_id` is the claim, and None without it; a claim that is no id is the empty text, which is
    nobody's tenant.
    """

    uid: str
    role: Role
    tenant_id: str | None
    email: str | None = None

    @property
    def record(self) -> Mapping[str, str | None]:
        """The user, as a record that says who did something names them."""
        return {"uid": self.uid, "email": self.email}


def staff(uid: str, claims: Mapping[str, Any], roles: frozenset[Role] = STAFF) -> Caller:
    """The user `uid`, whose `claims` name one of `roles`.

    Raises:
        CallError: `permission-denied` without such a role.
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
    caller: Caller, event: Mapping[str, Any] | None, asked: str | None
) -> Mapping[str, Any]:
    """The fields of `event`, if `caller` may act on it (design 3.3).

    `asked` is the request's tenantId.

    Raises:
        CallError: `permission-denied`, or `not-found` where `event` is None or a superadmin names
            another tenant than the event's.
    """
    if event is None:
        raise CallError(Code.NOT_FOUND, "There is no event with that eventId.")
    tenant_id = event.get("tenantId")
    event_tenant = tenant_id if isinstance(tenant_id, str) and tenant_id else None
    if caller.role is Role.SUPERADMIN:
        if asked is not None:
            if asked != event_tenant:
                raise CallError(
                    Code.NOT_FOUND, "The tenant tenantId has no event with that eventId."
                )
        elif caller.tenant_id is not None and caller.tenant_id != event_tenant:
            _deny("The event belongs to another tenant; pass its tenantId to act on it.")
        return event
    if asked is not None and asked != caller.tenant_id:
        _deny("Only a superadmin may act on another tenant; leave tenantId out.")
    if caller.tenant_id is None or caller.tenant_id != event_tenant:
        _deny("The event belongs to another tenant.")
    return event


def _deny(message: str) -> NoReturn:
    raise CallError(Code.PERMISSION_DENIED, message)
