"""The functions run in Firebase's functions emulator, as an app's developer starts it."""

import json
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest
from google.cloud import firestore

from emulator import certificates
from emulator.cloud import deployment
from emulator.cloud.program import Program
from emulator.firebase import PROJECT, read_addresses, server_environment
from emulator.ports import check_ports
from emulator.receiver import Receiver, always
from tools.paths import NODE_MODULES
from tools.processes import MARK, ProcessTree

LIMIT_SECONDS: Final = 180

_LOADED: Final = re.compile(
    # Scheduled functions need Pub/Sub, which is not started.
    r"functions\[us-central1-(\w+)\].* function (?:initialized|ignored because the pubsub )"
)


class FunctionsEmulator:
    """`firebase emulators:start` in this checkout.

    Attributes:
        loaded: Names of the loaded functions.
    """

    def __init__(self) -> None:
        """Start the emulators."""
        check_ports(read_addresses() | {"tasks": "127.0.0.1:9499"})
        certificates.ensure()
        self.loaded: set[str] = set()
        self._tree = ProcessTree()
        self._printed: list[str] = []
        self._program = Program(
            [
                *(str(NODE_MODULES / ".bin" / "firebase"), "emulators:start"),
                *("--project", PROJECT, "--only", "auth,functions,firestore,tasks"),
            ],
            # Time for the import of main.py. The default of ten seconds may be too short.
            server_environment() | {"FUNCTIONS_DISCOVERY_TIMEOUT": "60", MARK: self._tree.mark},
            "All emulators ready",
            self._read,
            threading.Event(),
        )

    def wait(self) -> None:
        """Wait until the emulators are ready."""
        assert self._program.is_ready_within(LIMIT_SECONDS), "".join(self._printed)

    def close(self) -> None:
        """End the emulators and all of their processes, including orphans."""
        self._program.end()
        self._tree.end()

    def _read(self, line: str) -> None:
        self._printed.append(line)
        self.loaded.update(_LOADED.findall(line))


@pytest.fixture(scope="module")
def emulator() -> Iterator[FunctionsEmulator]:
    """Run the emulators for all tests."""
    with closing(FunctionsEmulator()) as running:
        running.wait()
        yield running


def test_every_function_loads(emulator: FunctionsEmulator) -> None:
    """Check each function: Firebase reports ready even if a function failed to load."""
    assert emulator.loaded == {function.name for function in deployment.read()}


def test_an_upload_is_delivered(
    emulator: FunctionsEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deliver through the trigger and Firebase's emulator of tasks."""
    del emulator
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", read_addresses()["firestore"])
    event = firestore.Client(project=PROJECT).document("events", uuid.uuid4().hex)
    with Receiver(certificates.SERVER, scripts={"/hook": always()}) as receiver:
        urls = [{"url": receiver.url("/hook"), "events": ["photo.uploaded"]}]
        event.collection("settings").document("webhooks").set({"urls": urls})
        photo = {
            "status": "pending",
            "uploaderName": "Ann",
            "createdAt": firestore.SERVER_TIMESTAMP,
        }
        event.collection("photos").document("p1").set(photo)

        [request] = receiver.wait_for(bool, LIMIT_SECONDS)

    assert json.loads(request.body)["data"]["photo"]["id"] == "p1"
