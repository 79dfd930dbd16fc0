"""The secrets of the local project, kept from one run to the next."""

from __future__ import annotations

import contextlib
import os
import secrets

from emulator.environment.places import ROOT

FILE = ROOT / ".secret.local"


def write() -> None:
    """Make the file once, readable by its owner only."""
    lines = (
        f"EMAIL_PREFS_KEY={secrets.token_urlsafe(32)}",
        f"SENDGRID_API_KEY=SG.local-{secrets.token_hex(8)}",
    )
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


def read() -> dict[str, str]:
    """Return the values by the secrets' names."""
    lines = FILE.read_text(encoding="ascii").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)
