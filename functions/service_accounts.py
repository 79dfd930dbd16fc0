"""The service accounts that functions run as, and the secrets that each account reads.

`ops/setup` creates the accounts and grants exactly these secrets. `main.py` declares no secrets: a
deploy would pin the newest version into the environment, and an instance whose pinned version is
disabled does not start.

The standard library alone: an installation reads this module before any package is there.
"""

from collections.abc import Mapping, Sequence
from typing import Final

# An account for each capability, with what it needs. No anonymous endpoint reads the key of emails,
# and the functions that talk to receivers read no secret. The names are constants, because a
# deploy with another name would leave the roles and the tasks of the account before behind.
WEBHOOKS: Final = "wall-webhooks"
LOGS: Final = "wall-logs"
RECAP: Final = "wall-recap"
PREFERENCES: Final = "wall-preferences"
MAIL_EVENTS: Final = "wall-mail-events"

SECRET_READERS: Final[Mapping[str, Sequence[str]]] = {
    # secret: its accounts
    "EMAIL_PREFS_KEY": (RECAP, PREFERENCES),
    "LOG_LINKS_KEY": (LOGS,),
    "SENDGRID_API_KEY": (RECAP,),
}

ROLES: Final = ("secretmanager.secretAccessor", "secretmanager.viewer")
"""Roles on each secret: to read a version, and to list the versions."""
