"""The accounts that read each secret of Secret Manager; `ops/setup` grants exactly these.

`main.py` declares no secrets: a deploy would pin the newest version into the environment, and an
instance whose pinned version is disabled does not start.
"""

from collections.abc import Mapping, Sequence
from typing import Final

SECRET_READERS: Final[Mapping[str, Sequence[str]]] = {
    # secret: the parameters that name its accounts
    "EMAIL_PREFS_KEY": (
        "SERVICE_ACCOUNT_RECAP",
        "SERVICE_ACCOUNT_PREFERENCES",
    ),
    "LOG_LINKS_KEY": ("SERVICE_ACCOUNT_LOGS",),
    "SENDGRID_API_KEY": ("SERVICE_ACCOUNT_RECAP",),
}

ROLES: Final = ("secretmanager.secretAccessor", "secretmanager.viewer")
"""Roles on each secret: to read a version, and to list the versions."""
