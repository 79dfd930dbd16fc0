"""Addresses, settings and environment of Firebase's emulators on this machine."""

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
"""Port of the Hosting emulator. The front end listens on Hosting's port and relays to it."""

LOCAL_CONFIG: Final = ROOT / "firebase.json.local"
"""The emulators' firebase.json. In the same folder, because its paths are relative to it."""

ADDRESS_VARIABLES: Final = {
    "auth": "FIREBASE_AUTH_EMULATOR_HOST",
    "firestore": "FIRESTORE_EMULATOR_HOST",
    "hub": "FIREBASE_EMULATOR_HUB",
}
"""Environment variables from which clients read an emulator's address."""


def client_environment(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a client of the emulators at `addresses`."""
    environment = tool_environment(os.environ)
    for name, variable in ADDRESS_VARIABLES.items():
        environment[variable] = addresses[name]
    environment["GCLOUD_PROJECT"] = environment["GOOGLE_CLOUD_PROJECT"] = PROJECT
    return _without_credentials(environment)


def server_environment() -> dict[str, str]:
    """Write the settings of firebase-tools and return the environment for the emulators."""
    environment = _without_credentials(tool_environment(os.environ))
    for variable in ADDRESS_VARIABLES.values():
        # If one of these is set, an emulator connects to another run's emulator.
        environment.pop(variable, None)
    environment |= {
        "CI": "1",
        "NO_COLOR": "1",
        "NO_UPDATE_NOTIFIER": "1",
        # Separate settings: the user's login is not read, and no usage is reported.
        "XDG_CONFIG_HOME": str(STATE / "config"),
    }
    if jar := firestore_jar(environment):
        environment["FIRESTORE_EMULATOR_BINARY_PATH"] = str(jar)
    settings = STATE / "config" / "configstore" / "firebase-tools.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    # Usage reports are declined, and the message of the day counts as read until 2100.
    settings.write_text(json.dumps({"usage": False, "motd": {"fetched": 4_102_444_800_000}}))
    return environment


def read_addresses() -> dict[str, str]:
    """Return `host:port` of each emulator: firebase.json's, moved by the port offset.

    Raises:
        SetupError: `firebase.json` is missing or lacks an emulator.
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
    """Return firebase.json with the local pages, which may connect to `addresses`.

    The deployed pages may connect only to Google's hosts.
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
                # The mailbox serves the pictures of sample photos.
                header["value"] = policy.replace(
                    "img-src", f"img-src http://127.0.0.1:{MAILBOX_PORT}"
                )
    return config


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def _without_credentials(environment: dict[str, str]) -> dict[str, str]:
    """Hide the user's credentials, so that no program reaches a real project."""
    environment.pop("GOOGLE_APPLICATION_CREDENTIALS", None)
    environment["CLOUDSDK_CONFIG"] = str(STATE / "config" / "gcloud")
    environment["NO_GCE_CHECK"] = "true"
    return environment
