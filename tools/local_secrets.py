"""The secrets of the local project, which all runs share."""

import os
import secrets

from functions.service_accounts import SECRET_READERS
from tools.paths import ROOT

FILE = ROOT / ".secret.local"


def write() -> None:
    """Create the file, readable only by its owner, and add missing secrets."""
    values = {name: secrets.token_urlsafe(32) for name in SECRET_READERS}
    descriptor = os.open(FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="ascii") as file:
        existing = read()
        file.writelines(
            f"{name}={value}\n" for name, value in values.items() if name not in existing
        )


def read() -> dict[str, str]:
    """Return the values by the secrets' names."""
    lines = FILE.read_text(encoding="ascii").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)
