"""`python3 -m emulator exec` runs CMD with the deployed service."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.functions_emulator.marked import marked
from tools.processes import MARK

ROOT: Final = Path(__file__).parents[2]
LIMIT_SECONDS: Final = 240

_TRIES: Final = """
import json, os, socket, urllib.error, urllib.request, uuid
from google.cloud import firestore
from emulator import certificates
from emulator.receiver import Receiver, always

def opened(address, body=None):
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code

project = os.environ["GCLOUD_PROJECT"]
event = firestore.Client(project=project).document("events", uuid.uuid4().hex)
with Receiver(certificates.SERVER, scripts={"/hook": always()}) as receiver:
    urls = [{"url": receiver.url("/hook"), "events": ["photo.uploaded"]}]
    event.collection("settings").document("webhooks").set({"urls": urls})
    photo = {"status": "pending", "uploaderName": "Ann", "createdAt": firestore.SERVER_TIMESTAMP}
    event.collection("photos").document("p1").set(photo)
    delivered = len(receiver.wait_for(bool, 120))
moved = int(os.environ["WALL_PORT_OFFSET"])
base = f"http://127.0.0.1:{5001 + moved}/{project}/us-central1"
token = json.dumps({"data": {"token": "none"}}).encode()
def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0

print(
    delivered,
    opened(f"{base}/getEmailPreferences", token),
    opened(f"http://127.0.0.1:{5000 + moved}/preferences"),
    opened(f"http://127.0.0.1:{5000 + moved}/api/getEmailPreferences", token),
    *(port for port in (5000, 5001, 8080, 9099, 9180, 9443, 9499) if listens(port + moved)),
)
"""


_WRITES: Final = """
import os, uuid
from google.cloud import firestore

database = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
for _ in range(40):
    batch = database.batch()
    for _ in range(500):
        photo = database.document("events", uuid.uuid4().hex, "photos", "p1")
        batch.set(photo, {"status": "pending"})
    batch.commit()
"""


def start(*arguments: str) -> "subprocess.Popen[str]":
    """Start the runner without a terminal, as a CI system does."""
    return subprocess.Popen(
        [sys.executable, "-m", "emulator", "exec", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_exec_passes_streams_and_status_and_ends_every_process() -> None:
    """Connect standard input and output only to CMD, and return its exit status.

    A trigger fires, a task runs, a callable answers and the page opens, with keys that come from
    Secret Manager. No process listens on the ports of the mailbox and the emulator of tasks.
    """
    runner = start("--", "sh", "-c", f"echo ${MARK}; python -; exit 7")

    output, errors = runner.communicate(_TRIES, timeout=LIMIT_SECONDS)

    mark, tried = output.split("\n", 1)
    answers, ports = ["1", "403", "200", "403"], ["5000", "5001", "8080", "9099"]
    assert (runner.returncode, tried.split()) == (7, [*answers, *ports]), errors
    assert marked(mark) == []


@pytest.fixture(scope="module")
def moved() -> tuple[int, str, str]:
    """Run a command that ends amid writes, with other ports. Return its status and output."""
    taken = (5000, 5001, 5002, 8080, 9099, 9150, 4400, 4500)
    with contextlib.ExitStack() as stack:
        for port in taken:
            stack.enter_context(socket.create_server(("127.0.0.1", port)))
        runner = start("--ports", "200", "--", "python", "-")
        output, errors = runner.communicate(_TRIES + _WRITES, timeout=LIMIT_SECONDS)
    return runner.returncode, output, errors


def test_all_ports_can_be_moved(moved: tuple[int, str, str]) -> None:
    """Start while other programs use the default ports. Clients find the service."""
    status, output, errors = moved

    answers, ports = ["1", "403", "200", "403"], ["5000", "5001", "8080", "9099"]
    assert (status, output.split()) == (0, [*answers, *ports]), errors


def test_exec_ends_quietly_with_undelivered_writes(moved: tuple[int, str, str]) -> None:
    """End before the triggers were called. The rest is dropped without an error."""
    _, _, errors = moved

    assert "Traceback" not in errors
    assert "never retrieved" not in errors


def test_a_busy_port_is_reported_with_its_emulator_and_process() -> None:
    """Start nothing, print no traceback, and exit with status 2."""
    with socket.create_server(("127.0.0.1", 9099)):
        runner = start("--", "true")
        _, errors = runner.communicate(timeout=LIMIT_SECONDS)

    assert runner.returncode == 2
    assert "Port 9099 is taken" in errors
    assert f"process {os.getpid()} " in errors
    assert "auth" in errors
    assert "Traceback" not in errors
