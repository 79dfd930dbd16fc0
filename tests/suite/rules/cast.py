"""Everybody who may come to the rules: each role, in the event's tenant, in another and in none."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from emulator.accounts import sign_in, sign_in_anonymously
from tests.suite.rules.client import Client

TENANT: Final = "tenant-a"
OTHER_TENANT: Final = "tenant-b"


class Who(Enum):
    """A caller. If it has an email address, the value is the claims `role` and `tenantId`."""

    SIGNED_OUT = "signed out"
    GUEST = "guest"
    UPLOADER = "the guest whose photo and user record the samples are"
    UNVERIFIED = "admin of the tenant with an address that is not verified"
    MEMBER = (None, None)
    MODERATOR = ("moderator", TENANT)
    ADMIN = ("admin", TENANT)
    SUPERADMIN = ("superadmin", TENANT)
    OTHER_MODERATOR = ("moderator", OTHER_TENANT)
    OTHER_ADMIN = ("admin", OTHER_TENANT)
    OTHER_SUPERADMIN = ("superadmin", OTHER_TENANT)
    MODERATOR_OF_NONE = ("moderator", None)
    ADMIN_OF_NONE = ("admin", None)
    SUPERADMIN_OF_NONE = ("superadmin", None)
    UNKNOWN_ROLE = ("owner", TENANT)
    NO_ROLE = (None, TENANT)


Cast = Mapping[Who, Client]


def signed_in() -> Cast:
    """Return the client of each caller."""
    return {
        Who.SIGNED_OUT: Client(None),
        Who.GUEST: Client.of(sign_in_anonymously()),
        Who.UPLOADER: Client.of(sign_in_anonymously()),
        Who.UNVERIFIED: Client.of(sign_in("admin", TENANT, verified=False)),
    } | {who: Client.of(sign_in(*who.value)) for who in Who if isinstance(who.value, tuple)}
