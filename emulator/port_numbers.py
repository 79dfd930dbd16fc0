"""Ports of the local service that are missing from firebase.json, and the offset of all ports."""

import os
import re

from tools.command_list import PORT_OFFSET_VARIABLE

_LOCAL_URL = re.compile(r"(?<=^http://127\.0\.0\.1:)\d+")


def moved(port: int) -> int:
    """Return `port` plus the offset of the command line."""
    return port + int(os.environ.get(PORT_OFFSET_VARIABLE) or 0)


def with_moved_port(text: str) -> str:
    """Return `text`. If it is a URL on this machine, its port is moved."""
    return _LOCAL_URL.sub(lambda found: str(moved(int(found[0]))), text)


MAILBOX_PORT = moved(9180)
SMTP_PORT = moved(9587)
SMTP_URL = f"smtp://photos%40example.com@localhost:{SMTP_PORT}"
RECEIVER_PORT = moved(9443)
