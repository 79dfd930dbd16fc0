"""docs/receiving.md: its receivers run unchanged and reject forged deliveries."""

import contextlib
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import HTTPError

import psutil
import pytest

from emulator import certificates
from emulator.server import HOST, HttpRequest, HttpResponse, StandIn
from functions.process import SystemRandom
from functions.webhooks.signing import SIGNATURE_HEADER, sign, standard_headers

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/receiving.md").read_text()
SECRET: Final = SystemRandom().webhook_secret()
BODY: Final = {
    "event": "guest.joined",
    "eventId": "midsummer",
    "deliveryId": "19d0d87c-7fdb-59c7-8910-1bba61792a8f",
    "timestamp": "2026-05-01T18:30:00.123Z",
    "data": {"uploaderName": "Zoë", "uploaderEmail": None, "firstPhotoId": "p1", "joinedAt": "…"},
}


def listing(language: str, path: str) -> str:
    """Return the code of the page in `language` that serves `path`."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [found] = [block for block in blocks if f'post("{path}"' in block]
    return str(found)


@contextmanager
def running(
    command: list[str], output: list[str] | None = None, **environment: str
) -> Iterator[int]:
    """Run the receiver and yield its port. Append its output to `output`."""
    output = [] if output is None else output
    certificates.ensure()
    given = {**os.environ, "PORT": "0", "WALL_SECRET": SECRET, **environment}
    process = subprocess.Popen(
        command, cwd=ROOT, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield port_of(process)
    finally:
        process.terminate()
        printed, _ = process.communicate(timeout=60)
        output.append(printed)


def port_of(process: "subprocess.Popen[str]") -> int:
    """Wait until the process listens, and return its port."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for connection in psutil.Process(process.pid).net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                return connection.laddr.port
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            pytest.fail(str(process.communicate()))
    pytest.fail("it does not listen")


def post(port: int, path: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a request, and return the status of the answer."""
    trusted = ssl.create_default_context(cafile=str(certificates.CA))
    url = f"https://localhost:{port}{path}"
    request = urllib.request.Request(url, body, dict(headers))
    try:
        with urllib.request.urlopen(request, timeout=60, context=trusted) as answer:  # noqa: S310 - it is https
            return int(answer.status)
    except HTTPError as refused:
        return refused.code


def signed(
    body: bytes, secret: str = SECRET, event_id: str = "midsummer", **more: str
) -> Mapping[str, str]:
    """Return the headers that a receiver reads."""
    at = int(time.time())
    return {
        "Content-Type": "application/json",
        SIGNATURE_HEADER: sign(secret, body, at=at),
        "Wall-Event-Id": event_id,
        **standard_headers(secret, str(BODY["deliveryId"]), body, at=at),
        **more,
    }


def command_of(language: str, path: str, folder: Path) -> list[str]:
    """Write the listing to `folder`, and return the command that runs it."""
    if language == "python":
        pytest.importorskip("standardwebhooks")
        (folder / "receiver.py").write_text(listing(language, path))
        return [sys.executable, str(folder / "receiver.py")]
    modules = ROOT / "emulator/node_modules"
    if not shutil.which("node") or not (modules / "express").exists():
        pytest.skip("the Node packages are not installed: python3 -m emulator setup")
    (folder / "receiver.cjs").write_text(listing(language, path))
    return ["node", str(folder / "receiver.cjs")]


@pytest.mark.parametrize("environment", [{}, {"WALL_EVENT": "mine"}])
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_receiver_accepts_only_genuine_deliveries(
    language: str, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A repeated delivery is genuine. The output has the reason of a 400.

    Each event has its own secret, so a wrong configuration is a common first error.
    """
    body, output = json.dumps(BODY, ensure_ascii=False).encode(), list[str]()
    own = environment.get("WALL_EVENT", "midsummer")
    command = command_of(language, "/hook", tmp_path)
    node_path = str(ROOT / "emulator/node_modules")
    json_only = {"Content-Type": "application/json"}
    with running(command, output, NODE_PATH=node_path, **environment) as port:
        answers = [
            *(post(port, "/hook", body, signed(body, event_id=own)) for _ in range(2)),
            post(port, "/hook", body + b" ", signed(body, event_id=own)),
            post(port, "/hook", body, signed(body, event_id="another")),
            post(port, "/hook", body, json_only),
            post(port, "/hook", body, json_only | {"Wall-Event-Id": own}),
            post(port, "/hook", body, signed(body, "whsec_b3RoZXI=", event_id=own)),
        ]
    assert answers == [204, 204, *[400] * 5]
    reasons = [line.split(":")[1] for line in output[0].splitlines() if line.startswith("400: ")]
    assert [reason.replace("'", '"') for reason in reasons] == [
        f' bad signature for event "{own}"',
        ' no secret for event "another"',
        ' no secret for event ""',
        f' bad signature for event "{own}"',
        f' bad signature for event "{own}"',
    ]


def test_the_relay_posts_to_a_chat(tmp_path: Path) -> None:
    """The format is for Slack and Discord."""
    got: list[dict[str, str]] = []

    def take(asked: HttpRequest) -> HttpResponse:
        got.append(json.loads(asked.body))
        return 200, {}, b""

    body = json.dumps(BODY).encode()
    with StandIn(take) as chat:
        url = f"http://{HOST}:{chat.port}/services/T0/B0/x"
        with running(command_of("python", "/relay", tmp_path), CHAT_URL=url) as port:
            assert post(port, "/relay", body, signed(body)) == 204
            assert post(port, "/relay", body, signed(body, **{"Wall-Test": "true"})) == 204
            assert post(port, "/relay", body, signed(body, SystemRandom().webhook_secret())) == 400
    expected = ["Zoë has joined.", "A test: Zoë has joined."]
    assert got == [{"text": text, "content": text} for text in expected]
