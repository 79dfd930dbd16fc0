"""Which accounts read which secret of Secret Manager; `ops/setup` grants exactly this.

`main.py` declares no secrets: a deploy would pin the version that is newest then into the
environment, and an instance whose pinned version is disabled does not start.

Only the standard library is imported here, because `ops/setup` runs without the packages.
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
"""On each secret: to read a version, and to list the versions."""
