"""The environment in which Google starts a function, as far as a deploy of Firebase's sets it."""

import json
import os
from collections.abc import Mapping
from typing import Final

from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.firebase import PROJECT
from emulator.port_numbers import with_moved_port
from functions.ports import LOCATION
from tools import env_file
from tools.paths import ROOT, STATE, VENV
from tools.processes import MARK

REGION: Final = LOCATION

STAND_INS: Final = ("FIRESTORE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", ADDRESS_VARIABLE)
"""What stands in for Google's servers."""


def parameters() -> dict[str, str]:
    """The settings of `.env` and, over them, of `.env.demo-wall`, as a deploy to it reads them."""
    settings = env_file.read(ROOT / ".env") | env_file.read(ROOT / f".env.{PROJECT}")
    return {name: with_moved_port(value) for name, value in settings.items()}


def of_function(name: str, signature: str, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of the function `name`; addresses of stand-ins are taken from `given`.

    `signature` is what the function is called with: `http` or `cloudevent`.
    """
    service = name.lower()
    return {
        "PATH": f"{VENV / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        # Empty: no credentials of the user's are found.
        "HOME": str(STATE / "home"),
        # There is no metadata server here, and nobody waits for one.
        "NO_GCE_CHECK": "true",
        "LANG": "C.UTF-8",
        # Google's build image.
        "PYTHONUNBUFFERED": "TRUE",
        "FUNCTION_SIGNATURE_TYPE": signature,
        # Cloud Run.
        "K_SERVICE": service,
        "K_REVISION": f"{service}-00001-abc",
        "K_CONFIGURATION": service,
        # firebase-tools.
        "FIREBASE_CONFIG": json.dumps(
            {"projectId": PROJECT, "storageBucket": f"{PROJECT}.firebasestorage.app"}
        ),
        "GCLOUD_PROJECT": PROJECT,
        "EVENTARC_CLOUD_EVENT_SOURCE": f"projects/{PROJECT}/locations/{REGION}/services/{name}",
        "FUNCTION_TARGET": name,
        "LOG_EXECUTION_ID": "true",
        # By its line "Booting worker" the start is known to be over.
        "GUNICORN_LOG_LEVEL": "info",
        **parameters(),
        **{variable: given[variable] for variable in (*STAND_INS, MARK) if variable in given},
    }
