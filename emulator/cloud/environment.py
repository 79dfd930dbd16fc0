"""The environment variables of a deployed function."""

import json
import os
from collections.abc import Mapping
from typing import Final

from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.firebase import PROJECT
from emulator.port_numbers import SMTP_URL, with_moved_port
from functions.ports import LOCATION
from tools import env_file
from tools.command_list import SMTP_VARIABLE
from tools.paths import ROOT, STATE, VENV
from tools.processes import MARK

STAND_INS: Final = ("FIRESTORE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", ADDRESS_VARIABLE)
"""Variables with the addresses of stand-ins for Google's servers."""


def parameters() -> dict[str, str]:
    """Return the settings of `.env`, overridden by those of `.env.demo-wall`."""
    settings = env_file.read(ROOT / ".env") | env_file.read(ROOT / f".env.{PROJECT}")
    if SMTP_VARIABLE in os.environ:
        settings["MAIL_URL"] = SMTP_URL
    return {name: with_moved_port(value) for name, value in settings.items()}


def function_environment(
    name: str, signature: str, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of the function `name`.

    Args:
        name: The function's name.
        signature: The type of its requests: `http` or `cloudevent`.
        base: Environment with the addresses of stand-ins.
    """
    service = name.lower()
    return {
        "PATH": f"{VENV / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        # An empty folder, which hides the user's credentials.
        "HOME": str(STATE / "home"),
        # Don't wait for a metadata server.
        "NO_GCE_CHECK": "true",
        "LANG": "C.UTF-8",
        # Set by Google's build image.
        "PYTHONUNBUFFERED": "TRUE",
        "FUNCTION_SIGNATURE_TYPE": signature,
        # Set by Cloud Run.
        "K_SERVICE": service,
        "K_REVISION": f"{service}-00001-abc",
        "K_CONFIGURATION": service,
        # Set by firebase-tools.
        "FIREBASE_CONFIG": json.dumps(
            {"projectId": PROJECT, "storageBucket": f"{PROJECT}.firebasestorage.app"}
        ),
        "GCLOUD_PROJECT": PROJECT,
        "EVENTARC_CLOUD_EVENT_SOURCE": f"projects/{PROJECT}/locations/{LOCATION}/services/{name}",
        "FUNCTION_TARGET": name,
        "LOG_EXECUTION_ID": "true",
        # The line "Booting worker" shows that the process has started.
        "GUNICORN_LOG_LEVEL": "info",
        **parameters(),
        **{variable: base[variable] for variable in (*STAND_INS, MARK) if variable in base},
    }
