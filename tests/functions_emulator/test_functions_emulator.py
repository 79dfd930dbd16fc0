"""Firebase's own functions emulator, started as the developer of an app starts it."""

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

# Seconds.
LIMIT: Final = 180

_LOADED: Final = re.compile(
    # Schedules wait for Pub/Sub, which is not started: they are called by hand or not at all.
    r"functions\[us-central1-(\w+)\].* function (?:initialized|ignored because the pubsub )"
)


class FunctionsEmulator:
    """`firebase emulators:start` in this checkout.

    Attributes:
        loaded: The functions that it has loaded.
    """

    def __init__(self) -> None:
        """Start it."""
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
            # Seconds that firebase-tools waits for main.py to be imported; its own ten are few.
            server_environment() | {"FUNCTIONS_DISCOVERY_TIMEOUT": "60", MARK: self._tree.mark},
            "All emulators ready",
            self._read,
            threading.Event(),
        )

    def wait(self) -> None:
        """Wait until it is ready."""
        assert self._program.is_ready_within(LIMIT), "".join(self._printed)

    def close(self) -> None:
        """End it with all that it has started, orphans and other sessions included."""
        self._program.end()
        self._tree.end()

    def _read(self, line: str) -> None:
        self._printed.append(line)
        self.loaded.update(_LOADED.findall(line))


@pytest.fixture(scope="module")
def emulator() -> Iterator[FunctionsEmulator]:
    """One for all tests."""
    with closing(FunctionsEmulator()) as running:
        running.wait()
        yield running


def test_every_function_loads(emulator: FunctionsEmulator) -> None:
    """Firebase calls itself ready even where it could not load a function."""
    assert emulator.loaded == {function.name for function in deployment.read()}


def test_an_upload_is_delivered(
    emulator: FunctionsEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trigger fires, and the task runs through Firebase's emulator of tasks."""
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

        [request] = receiver.wait_for(bool, LIMIT)

    assert json.loads(request.body)["data"]["photo"]["id"] == "p1"
