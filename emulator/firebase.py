"""Firebase's emulators on this machine: addresses, settings and environment."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from emulator.port_numbers import MAILBOX_PORT, moved
from tools.installation import tool_environment
from tools.java import firestore_jar
from tools.paths import PAGES, ROOT, STATE
from tools.steps import SetupError

PROJECT: Final = "demo-wall"
EMULATORS: Final = ("auth", "firestore", "functions", "hosting", "hub", "logging")

_PAGES_PORT: Final = 5002
"""Where Hosting's emulator has the pages; its own port is the front end's, which knows rewrites."""

LOCAL_CONFIG: Final = ROOT / "firebase.json.local"
"""firebase.json as the emulators read it: beside it, as its paths are relative to its folder."""

ADDRESS_VARIABLES: Final = {
    "auth": "FIREBASE_AUTH_EMULATOR_HOST",
    "firestore": "FIRESTORE_EMULATOR_HOST",
    "hub": "FIREBASE_EMULATOR_HUB",
}
"""The variables by which clients find an emulator."""


def client_environment(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return what a client of the emulators at these addresses needs in its environment."""
    environment = tool_environment(os.environ)
    for name, variable in ADDRESS_VARIABLES.items():
        environment[variable] = addresses[name]
    environment["GCLOUD_PROJECT"] = environment["GOOGLE_CLOUD_PROJECT"] = PROJECT
    return _without_credentials(environment)


def server_environment() -> dict[str, str]:
    """Return the environment for Firebase's emulators; write the settings that it leads to."""
    environment = _without_credentials(tool_environment(os.environ))
    for variable in ADDRESS_VARIABLES.values():
        # With one of these set, an emulator would talk to somebody else's.
        environment.pop(variable, None)
    environment |= {
        "CI": "1",
        "NO_COLOR": "1",
        "NO_UPDATE_NOTIFIER": "1",
        # Settings of its own: no login of the user is looked at, and no usage is reported.
        "XDG_CONFIG_HOME": str(STATE / "config"),
    }
    if jar := firestore_jar(environment):
        environment["FIRESTORE_EMULATOR_BINARY_PATH"] = str(jar)
    settings = STATE / "config" / "configstore" / "firebase-tools.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    # Asked about usage reports once and for all, and about news until the year 2100.
    settings.write_text(json.dumps({"usage": False, "motd": {"fetched": 4_102_444_800_000}}))
    return environment


def read_addresses() -> dict[str, str]:
    """Return `host:port` of each emulator, as firebase.json has it, moved by the port offset.

    Raises:
        SetupError: firebase.json is missing or lacks an emulator.
    """
    try:
        emulators: dict[str, Any] = json.loads((ROOT / "firebase.json").read_text())["emulators"]
        addresses = {
            name: f"{emulators[name]['host']}:{moved(emulators[name]['port'])}"
            for name in EMULATORS
        }
        addresses["pages"] = f"{emulators['hosting']['host']}:{moved(_PAGES_PORT)}"
        firestore = emulators["firestore"]
        if "websocketPort" in firestore:
            websocket = moved(firestore["websocketPort"])
            addresses["firestore websocket"] = f"{firestore['host']}:{websocket}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"firebase.json cannot be used: {error!r}") from error
    return addresses


def local_config(addresses: Mapping[str, str]) -> dict[str, Any]:
    """Return firebase.json with the local suite's pages, which may connect to `addresses`.

    The deployed pages may connect to Google's hosts alone.
    """
    config: dict[str, Any] = json.loads((ROOT / "firebase.json").read_text())
    config["hosting"]["public"] = str(PAGES.relative_to(ROOT))
    for name in EMULATORS:
        config["emulators"][name]["port"] = _port(addresses[name])
    config["emulators"]["hosting"]["port"] = _port(addresses["pages"])
    local = " ".join(f"http://{addresses[name]}" for name in ("auth", "firestore", "functions"))
    for rule in config["hosting"]["headers"]:
        for header in rule["headers"]:
            if header["key"] == "Content-Security-Policy":
                policy = header["value"].replace("connect-src", f"connect-src {local}")
                # The mailbox draws the pictures of made-up photos.
                header["value"] = policy.replace(
                    "img-src", f"img-src http://127.0.0.1:{MAILBOX_PORT}"
                )
    return config


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def _without_credentials(environment: dict[str, str]) -> dict[str, str]:
    """Keep local work local: nothing finds a way to a real project, or looks long for one."""
    environment.pop("GOOGLE_APPLICATION_CREDENTIALS", None)
    environment["CLOUDSDK_CONFIG"] = str(STATE / "config" / "gcloud")
    environment["NO_GCE_CHECK"] = "true"
    return environment
