"""`--ports OFFSET` moves every port of the local service."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tools.command_list import PORT_OFFSET_VARIABLE

ROOT: Final = Path(__file__).parents[2]
_READ: Final = """
import json
from emulator import firebase, stand_ins
from emulator.cloud.environment import parameters

addresses = firebase.read_addresses()
config = firebase.local_config(addresses)
print(json.dumps({
    "addresses": {**addresses, **stand_ins.ADDRESSES},
    "client": firebase.client_environment(addresses),
    "parameters": parameters(),
    "emulators": {name: config["emulators"][name]["port"] for name in ("auth", "hosting", "hub")},
    "policies": json.dumps(config["hosting"]["headers"]),
    "reports": stand_ins.mail_events_url(),
}))
"""


def read(offset: str | None) -> Any:
    """Return the configuration of the local service with an offset."""
    given = {name: value for name, value in os.environ.items() if name != PORT_OFFSET_VARIABLE}
    if offset is not None:
        given[PORT_OFFSET_VARIABLE] = offset
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        cwd=ROOT,
        env=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def ports(addresses: dict[str, str]) -> dict[str, int]:
    """Return the port of each address."""
    return {name: int(address.rpartition(":")[2]) for name, address in addresses.items()}


@pytest.mark.parametrize("offset", [1, 200, 50_000])
def test_every_port_is_moved_by_the_same_offset(offset: int) -> None:
    """Move servers, clients, parameters of the functions, and the pages' connections."""
    default, moved = read(None), read(str(offset))

    expected = {name: port + offset for name, port in ports(default["addresses"]).items()}
    assert ports(moved["addresses"]) == expected
    assert moved["client"]["FIRESTORE_EMULATOR_HOST"] == f"127.0.0.1:{8080 + offset}"
    assert moved["client"]["FIREBASE_AUTH_EMULATOR_HOST"] == f"127.0.0.1:{9099 + offset}"
    assert moved["client"]["FIREBASE_EMULATOR_HUB"] == f"127.0.0.1:{4400 + offset}"
    assert moved["parameters"]["PUBLIC_BASE_URL"] == f"http://127.0.0.1:{5000 + offset}"
    assert moved["parameters"]["SENDGRID_HOST"] == f"http://127.0.0.1:{9180 + offset}"
    assert moved["emulators"] == {
        "auth": 9099 + offset,
        "hosting": 5002 + offset,
        "hub": 4400 + offset,
    }
    assert f"connect-src http://127.0.0.1:{9099 + offset} " in moved["policies"]
    assert f"img-src http://127.0.0.1:{9180 + offset} " in moved["policies"]
    assert moved["reports"].startswith(f"http://127.0.0.1:{5001 + offset}/")


def test_without_an_offset_the_ports_are_the_defaults() -> None:
    """Treat the offset 0 like no offset."""
    default = read(None)

    assert {**read("0"), "client": {}} == {**default, "client": {}}
    assert ports(default["addresses"])["hosting"] == 5000
    assert default["parameters"]["PUBLIC_BASE_URL"] == "http://127.0.0.1:5000"
