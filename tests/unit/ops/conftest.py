"""A project in a stand-in for Google's APIs, and the scripts that are run against it."""

import copy
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from ops import applying, setting_up
from ops.cloud import Outside
from ops.wanted import manifest, read
from tests.unit.ops import fake_firebase, fake_google
from tests.unit.ops.fake_google import FakeGoogle

ROOT: Final = Path(__file__).parents[3]
_MAIN: Final[dict[str, Callable[..., int]]] = {
    "apply": applying.main,
    "check": setting_up.check,
    "setup": setting_up.main,
}


class Operator:
    """Runs the scripts, in a checkout whose `.env` is filled in.

    Attributes:
        google: The project that the scripts see.
        typed: What the operator types when asked for a key.
        commands: Programs that the last run started, without those that ask who is signed in.
        slept: Seconds that the last run waited.
    """

    def __init__(self, google: FakeGoogle, address: str, checkout: Path) -> None:
        self.google = google
        self.typed = "SG.typed-in"
        self.commands: list[str] = []
        self.slept = 0.0
        self.checkout = checkout
        self._address = address

    def run(self, script: str, *arguments: str) -> tuple[int, str, str]:
        """Run a script; its status, output and errors."""
        self.google.changes.clear()
        self.commands.clear()
        self.slept = 0
        out, errors = io.StringIO(), io.StringIO()
        outside = Outside(self._start, self._sleep, self._type_in, self._address, self.checkout)
        with redirect_stdout(out), redirect_stderr(errors):
            try:
                status = _MAIN[script](["acme", *arguments], outside)
            except SystemExit as ended:  # argparse's way
                status = int(str(ended.code))
        return status, out.getvalue(), errors.getvalue()

    def done(self, script: str, *arguments: str) -> str:
        """What a run that succeeds says."""
        status, said, errors = self.run(script, *arguments)
        assert status == 0, said + errors
        return said

    def start(self, command: list[str]) -> int:
        """Start a program as the operator would in the checkout; its status."""
        return self._start(command, env=dict(os.environ), cwd=self.checkout).returncode

    def _start(
        self, command: list[str], *, env: dict[str, str], **how: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Start a program, with the stand-ins in the place of `gcloud` and `firebase`."""
        if not {"print-access-token", "login:list"} & set(command):
            self.commands.append(" ".join(command))
        stand_ins = {
            "PATH": f"{self.checkout / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "FAKE_GOOGLE": self._address,
            "FAKE_TOKEN": fake_google.TOKEN,
            "FAKE_MANIFEST": str(self.checkout / "manifest.json"),
        }
        program = self.checkout / "bin" / command[0]
        return subprocess.run([program, *command[1:]], env={**env, **stand_ins}, **how)  # noqa: PLW1510 - in `how`

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.google.sleep(seconds)

    def _type_in(self, _: str) -> str:
        return self.typed


@dataclass(frozen=True)
class FirstRun:
    """What `ops/setup` made of an empty project, what it said, and what it started."""

    google: FakeGoogle
    said: str
    commands: list[str]


def checkout(folder: Path, manifest_text: str) -> None:
    """A folder with what the scripts read and start; its `.env` is filled in."""
    for name in ("firebase.json", "firestore.indexes.json", "firestore.rules"):
        (folder / name).symlink_to(ROOT / name)
    env = (ROOT / ".env").read_text()
    (folder / ".env").write_text(env.replace("example.com", "wall.events"))
    (folder / "manifest.json").write_text(manifest_text)
    programs = {
        "bin/gcloud": f"echo {fake_google.TOKEN}",
        "bin/firebase": f'exec {sys.executable} -IS {fake_firebase.__file__} "$@"',
        "venv/bin/python": f"cat {folder / 'manifest.json'}",
    }
    for name, line in programs.items():
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)


@contextmanager
def operating(google: FakeGoogle, folder: Path, manifest_text: str) -> Iterator[Operator]:
    """An operator at the project `google`, with a checkout in `folder`."""
    checkout(folder, manifest_text)
    # A new project has 20 vCPU; main.py may ask for more, and the operator was granted it then.
    google.milli_cpu = max(google.milli_cpu, int(1000 * read("acme", folder).largest.max_cpu))
    with fake_google.serving(google) as address:
        yield Operator(google, address, folder)


@pytest.fixture(scope="session")
def rendered() -> str:
    """The manifest of main.py, rendered once."""
    return json.dumps(manifest(ROOT, {}))


@pytest.fixture(scope="session")
def first_run(rendered: str, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    """The run that many tests look at."""
    folder = tmp_path_factory.mktemp("first")
    with operating(FakeGoogle(), folder, rendered) as operator:
        said = operator.done("setup")
        return FirstRun(operator.google, said, operator.commands)


@pytest.fixture
def operator(tmp_path: Path, rendered: str) -> Iterator[Operator]:
    """At an empty project."""
    with operating(FakeGoogle(), tmp_path, rendered) as operator:
        yield operator


@pytest.fixture
def ready(tmp_path: Path, rendered: str, first_run: FirstRun) -> Iterator[Operator]:
    """At a project where everything is there, indexes built."""
    google = copy.deepcopy(first_run.google)
    google.sleep(fake_google.BUILD_SECONDS)
    with operating(google, tmp_path, rendered) as operator:
        yield operator
