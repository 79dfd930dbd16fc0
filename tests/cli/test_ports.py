"""`--ports OFFSET` moves every port of the local service."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.command_list import PORT_OFFSET_VARIABLE

ROOT: Final = Path(__file__).parents[2]
_READ: Final = """
import json
from emulator import firebase, stand_ins
from emulator.cloud.environment import parameters

addresses = firebase.read_addresses()
config = firebase.local_config(addresses)
print(json.dumps([
    *addresses.values(),
    *firebase.client_environment(addresses).values(),
    *stand_ins.ADDRESSES.values(),
    parameters()["PUBLIC_BASE_URL"],
    parameters()["SENDGRID_HOST"],
    stand_ins.mail_events_url(),
    *(header["value"] for rule in config["hosting"]["headers"] for header in rule["headers"]),
]))
"""


def ports(offset: str) -> list[int]:
    """Return every port in the configuration of the local service with an offset."""
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        cwd=ROOT,
        env=os.environ | {PORT_OFFSET_VARIABLE: offset},
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(port) for port in re.findall(r"(?:127\.0\.0\.1|localhost):(\d+)", done.stdout)]


def test_every_port_is_moved_by_the_same_offset() -> None:
    """Move servers, clients, parameters of the functions, and the pages' connections."""
    assert {5000, 9099, 9180} <= {*ports("0")}
    assert ports("200") == [port + 200 for port in ports("0")]
