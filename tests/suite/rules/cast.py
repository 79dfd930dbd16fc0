"""Everybody who may come to the rules: each role, in the event's tenant, in another and in none."""

from enum import StrEnum
from typing import Final

from emulator.people import Person, sign_in, sign_in_anonymously
from tests.suite.rules.client import Client

TENANT: Final = "tenant-a"
OTHER_TENANT: Final = "tenant-b"


class Who(StrEnum):
    """A part in the play."""

    SIGNED_OUT = "signed out"
    GUEST = "guest"
    UPLOADER = "uploader"  # the guest whose photo and user record the samples are
    MEMBER = "signed in with e-mail"
    MODERATOR = "moderator"
    ADMIN = "admin"
    SUPERADMIN = "superadmin"
    OTHER_MODERATOR = "moderator of another tenant"
    OTHER_ADMIN = "admin of another tenant"
    OTHER_SUPERADMIN = "superadmin of another tenant"
    MODERATOR_OF_NONE = "moderator of no tenant"
    ADMIN_OF_NONE = "admin of no tenant"
    SUPERADMIN_OF_NONE = "superadmin of no tenant"
    UNKNOWN_ROLE = "unknown role in the tenant"
    NO_ROLE = "no role in the tenant"


class Cast:
    """The people, signed in, and their clients."""

    def __init__(self) -> None:
        self.people: Final[dict[Who, Person]] = {
            Who.GUEST: sign_in_anonymously(),
            Who.UPLOADER: sign_in_anonymously(),
            Who.MEMBER: sign_in(),
            Who.MODERATOR: sign_in("moderator", TENANT),
            Who.ADMIN: sign_in("admin", TENANT),
            Who.SUPERADMIN: sign_in("superadmin", TENANT),
            Who.OTHER_MODERATOR: sign_in("moderator", OTHER_TENANT),
            Who.OTHER_ADMIN: sign_in("admin", OTHER_TENANT),
            Who.OTHER_SUPERADMIN: sign_in("superadmin", OTHER_TENANT),
            Who.MODERATOR_OF_NONE: sign_in("moderator"),
            Who.ADMIN_OF_NONE: sign_in("admin"),
            Who.SUPERADMIN_OF_NONE: sign_in("superadmin"),
            Who.UNKNOWN_ROLE: sign_in("owner", TENANT),
            Who.NO_ROLE: sign_in(None, TENANT),
        }

    def client(self, who: Who) -> Client:
        """What `who` sits at."""
        person = self.people.get(who)
        return Client(person.id_token if person else None)

    def uid(self, who: Who) -> str:
        """Uid of `who`; somebody's who is never there for the signed out."""
        person = self.people.get(who)
        return person.uid if person else "nobody"

    def email(self, who: Who) -> str:
        """E-mail address of `who`, empty for the anonymous."""
        person = self.people.get(who)
        return person.email if person else ""
