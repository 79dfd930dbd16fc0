"""Everything that a deploy contains for the local suite only.

Firebase's functions emulator and the local cloud run the deployed code, so these settings cannot be
outside of it. None of them has an effect at Google.
"""

import base64
import http.client
import json
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from functions import environment, ports


def api_stand_ins() -> str | None:
    """Return the `host:port` of the stand-ins for Google's APIs, or None outside local clouds."""
    return os.environ.get("GOOGLE_API_STAND_INS")


def firestore_emulator() -> str | None:
    """Return the `host:port` of Firestore's emulator, or None at Google."""
    return os.environ.get("FIRESTORE_EMULATOR_HOST")


OVERRIDES: Final = ("WEBHOOK_CA_BUNDLE", "WEBHOOK_ALLOW_LOOPBACK", "MAILBOX_KEY")
"""Settings that the environment of a deployed function must not change."""

_overrides: Final[dict[str, str]] = {}


def set_overrides(settings: Mapping[str, str]) -> None:
    """Use the settings of `OVERRIDES` in `settings`.

    Only the entry point of local processes calls this function, and that is never deployed.
    """
    _overrides.update({name: settings[name] for name in OVERRIDES if name in settings})


def webhook_ca_bundle() -> str | None:
    """Return the path of additional certificate authorities for receivers."""
    return _setting("WEBHOOK_CA_BUNDLE")


def webhook_allow_loopback() -> bool:
    """Return whether receivers may have loopback addresses."""
    return _setting("WEBHOOK_ALLOW_LOOPBACK") == "true"


def mail_key() -> str:
    """Return the public key of the local mailbox, or "" at Google."""
    path = _setting("MAILBOX_KEY")
    return Path(path).read_text().strip() if path and Path(path).exists() else ""


def _setting(name: str) -> str | None:
    in_emulator = os.environ.get("FUNCTIONS_EMULATOR") == "true"
    settings = os.environ if in_emulator else _overrides
    return settings.get(name) or None


def emulated_tasks() -> "EmulatedTasks | None":
    """Return the adapter for Firebase's emulator of Cloud Tasks, or None without that emulator."""
    host = os.environ.get("CLOUD_TASKS_EMULATOR_HOST")
    return EmulatedTasks(host) if host else None


@dataclass(frozen=True, slots=True)
class EmulatedTasks:
    """Adapter for the task queues of the Firebase emulator.

    `host` is `name:port` or a URL, as in `CLOUD_TASKS_EMULATOR_HOST`.
    """

    host: str

    def enqueue(self, task: ports.Task) -> None:
        """Enqueue `task` (see `TaskQueue`). The emulator ignores `due`."""
        project = environment.project_id() or ""
        queue = f"projects/{project}/locations/{ports.LOCATION}/queues/{task.queue}"
        request = {
            "task": {
                "name": f"{queue}/tasks/{task.name}",
                "dispatchDeadline": f"{task.seconds}s",
                "httpRequest": {"url": "", "body": base64.b64encode(task.body).decode()},
            }
        }
        host = self.host.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=ports.TASKS_TIMEOUT_SECONDS)
        with closing(connection):
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/{queue}/tasks", json.dumps(request), headers)
            status = connection.getresponse().status
        if status not in (http.client.OK, http.client.CONFLICT):
            raise ConnectionError(f"the tasks emulator answered {status}")
