"""The service accounts that functions run as, and the secrets that each account reads.

`ops/setup` creates the accounts and grants exactly these secrets. `main.py` declares no secrets,
because a deploy would pin the newest version in the environment, and an instance with a disabled
version does not start.

Imports only the standard library, because an installation reads this module before any package is
installed.
"""

from collections.abc import Mapping, Sequence
from typing import Final

# Each capability has its own account with only the permissions that it needs. No anonymous function
# reads the email provider's key, and the functions that call receivers read no secret. The names
# are constants, because a deploy with another name would abandon the old account's roles and tasks.
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
    "SMTP_PASSWORD": (RECAP,),
}

ROLES: Final = ("secretmanager.secretAccessor", "secretmanager.viewer")
"""Roles for each secret: read a version, and list the versions."""
