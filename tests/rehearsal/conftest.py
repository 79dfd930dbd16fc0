"""Fixtures that run the scripts of `ops/` with a fake of Google's APIs.

The scripts, firebase-tools and main.py are real. Each test has its own checkout.
"""

import copy
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest

from functions.mail.smtp import MailServer
from ops import applying, braking, setting_up, staff
from ops.cloud import Outside
from ops.wanted import manifest, read
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.rehearsal import fake_google
from tests.rehearsal.fake_google import FakeGoogle

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
COPIED: Final = (
    *("main.py", "firebase.json", "firestore.indexes.json", "firestore.rules", "requirements.txt"),
    *("functions", "ops", "tools"),
)
_WORKER: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_MANIFEST_PORT: Final = 21_000 + 100 * _WORKER
"""First port that firebase-tools tries for the server that reads main.py, one per test process."""
_MAIN: Final[dict[str, Callable[..., int]]] = {
    "apply": applying.main,
    "brake": braking.main,
    "check": setting_up.check,
    "deploy": setting_up.deploy,
    "setup": setting_up.main,
    "staff": staff.main,
}


class Operator:
    """Runs the scripts in a checkout with a complete `.env`.

    Attributes:
        google: The fake project.
        checkout: The folder of the checkout.
        typed: The operator's input for a key.
        hosts: The operator's input for the hosts of photos, or None without a terminal.
        commands: Programs that the last run started, except checks of the login.
        slept: Seconds of waiting in the last run.
        said: Output of the programs of the last run.
    """

    def __init__(self, google: FakeGoogle, address: str, folder: Path) -> None:
        self.google = google
        self.checkout = folder / "checkout"
        self.machine = folder / "machine"
        self.typed = "SG.typed-in"
        self.hosts: str | None = None
        self.sign_in: Callable[[MailServer, str], object] = lambda *_: None
        self.commands: list[str] = []
        self.slept = 0.0
        self.said = ""
        self._address = address

    def run(self, script: str, *arguments: str) -> tuple[int, str, str]:
        """Run a script and return its status, output and errors."""
        self.google.changes.clear()
        self.commands.clear()
        self.slept = 0
        self.said = ""
        out, errors = io.StringIO(), io.StringIO()
        outside = Outside(
            self.start,
            self._sleep,
            self._type_in,
            self._answer,
            self._address,
            self.checkout,
            documents=lambda _: InMemoryDocuments(Firestore()),
            sign_in=self.sign_in,
        )
        auth = self._address.removeprefix("http://").removesuffix("/{host}")
        with (
            redirect_stdout(out),
            redirect_stderr(errors),
            mock.patch.dict(os.environ, FIREBASE_AUTH_EMULATOR_HOST=auth),
        ):
            try:
                status = _MAIN[script](["acme", *arguments], outside)
            except SystemExit as ended:  # raised by argparse
                status = int(str(ended.code))
        return status, out.getvalue(), errors.getvalue()

    def done(self, script: str, *arguments: str) -> str:
        """Run a script that must succeed and return its output."""
        status, said, errors = self.run(script, *arguments)
        assert status == 0, said + errors + self.said
        return said

    def stopped(self, script: str, *arguments: str) -> str:
        """Run a script that must exit with status 1 and return its output and errors."""
        status, said, errors = self.run(script, *arguments)
        assert status == 1, said + errors + self.said
        return said + errors

    def follow(self, line: str) -> int:
        """Run a documented command in the checkout and return its status."""
        words = shlex.split(line.replace("$PROJECT", "acme"), comments=True)
        return self.run(words[0].removeprefix("ops/"), *words[2:])[0]

    def start(self, command: Sequence[str], **how: Any) -> "subprocess.CompletedProcess[str]":
        """Start a program in the checkout.

        It can connect only to the fake. The machine's `gcloud` prints a token. `firebase` is an
        old version.
        """
        if "login:list" in command:  # the result is in the store that every deploy reads
            return subprocess.CompletedProcess(command, 0, stdout='{"result": [{"user": {}}]}')
        is_asking = "print-access-token" in command
        if not is_asking:
            self.commands.append(" ".join([Path(command[0]).name, *command[1:]]))
        environment = {
            "HOME": str(self.machine / "home"),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join([str(self.machine / "bin"), os.environ["PATH"]]),
            # Time for the import of main.py. The default of ten seconds may be too short.
            "FUNCTIONS_DISCOVERY_TIMEOUT": "60",
            "MANIFEST_PORT": str(_MANIFEST_PORT),
            "STAND_IN_FOR_GOOGLE": self._address.removesuffix("/{host}"),
            "NODE_OPTIONS": f"--require={HERE / 'to_stand_in.cjs'}",
            "PYTHONPATH": str(HERE),
        }
        how = {"cwd": self.checkout, "text": True, "check": False, **how}
        how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if is_asking:
            how["stderr"] = subprocess.DEVNULL
        program = shutil.which(command[0], path=environment["PATH"])
        if program is None or program == shutil.which("gcloud"):  # installed on this machine
            raise FileNotFoundError(2, "No such file or directory")
        ran = subprocess.run([program, *command[1:]], env=environment, **how)  # noqa: PLW1510 - in `how`
        self.said += ran.stdout
        return ran

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds
        assert self.slept < 7200, "a run that never ends"
        self.google.sleep(seconds)

    def _type_in(self, _: str) -> str:
        return self.typed

    def _answer(self, _: str) -> str:
        if self.hosts is None:
            raise EOFError
        return self.hosts


def commands_of(page: str) -> list[str]:
    """Return the commands of a page that run a script of `ops/`, in their order."""
    text = (ROOT / page).read_text()
    found = re.findall(r"^ *```([^\n]*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(block for language, block in found if not language).splitlines()
    return [line.strip() for line in lines if re.match(r" *ops/\w", line)]


@dataclass(frozen=True)
class FirstRun:
    """The result of `ops/setup` in an empty project: resources, output and commands."""

    google: FakeGoogle
    said: str
    commands: list[str]


def checkout(folder: Path, manifest_text: str) -> None:
    """Create a checkout with a complete `.env`, and a machine with a signed-in operator.

    If `manifest.json` exists, `ops/` does not render the manifest again. firebase-tools does.
    """
    made = folder / "checkout"
    for name in COPIED:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, made / name)
    (made / "emulator").mkdir()
    (made / "emulator/node_modules").symlink_to(ROOT / "emulator/node_modules")
    config = json.loads((made / "firebase.json").read_text())
    # Other tests cover the build of the pages.
    config["hosting"]["predeploy"] = ["mkdir -p public && date > public/index.html"]
    (made / "firebase.json").write_text(json.dumps(config))
    env = (ROOT / ".env").read_text()
    (made / ".env").write_text(env.replace("example.com", "wall.events"))
    (made / "manifest.json").write_text(manifest_text)
    binaries = made / "venv/bin"
    binaries.mkdir(parents=True)
    for name in ("activate", "python3.13"):
        (binaries / name).symlink_to(ROOT / "venv/bin" / name)
    programs = {
        binaries / "python": f'[ "$1" = -c ] && [ -f manifest.json ] && exec cat manifest.json\n'
        f'exec {ROOT}/venv/bin/python "$@"',
        folder / "machine/bin/gcloud": f"echo {fake_google.TOKEN}",
        folder / "machine/bin/firebase": "echo an old firebase ran; exit 1",
    }
    for program, lines in programs.items():
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{lines}\n")
        program.chmod(0o755)
    sign_in = {
        "user": {"email": "me@example.com"},
        "tokens": {
            "access_token": fake_google.TOKEN,
            "refresh_token": "r",
            "expires_at": int(1000 * time.time()) + 10**9,
        },
        "motd": {"fetched": int(1000 * time.time())},
    }
    store = folder / "machine/home/.config/configstore/firebase-tools.json"
    store.parent.mkdir(parents=True)
    store.write_text(json.dumps(sign_in))


@contextmanager
def operating(google: FakeGoogle, folder: Path, manifest_text: str) -> Iterator[Operator]:
    """Yield an operator of the project `google` with a checkout in `folder`."""
    checkout(folder, manifest_text)
    # A new project has 20 vCPU. If main.py needs more, the quota was increased.
    largest = read("acme", folder / "checkout").largest
    google.milli_cpu = max(google.milli_cpu, int(1000 * largest.max_cpu))
    with fake_google.serving(google) as address:
        yield Operator(google, address, folder)


@pytest.fixture(scope="session")
def rendered() -> str:
    """Render the manifest of main.py once."""
    return json.dumps(manifest(ROOT, {}))


@pytest.fixture(scope="session")
def first_run(rendered: str, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    """Run `ops/setup` in an empty project once for many tests."""
    folder = tmp_path_factory.mktemp("first")
    with operating(FakeGoogle(), folder, rendered) as operator:
        said = operator.done("setup")
        return FirstRun(operator.google, said, operator.commands)


@pytest.fixture
def operator(tmp_path: Path, rendered: str) -> Iterator[Operator]:
    """Yield an operator of an empty project."""
    with operating(FakeGoogle(), tmp_path, rendered) as operator:
        yield operator


@pytest.fixture
def ready(tmp_path: Path, rendered: str, first_run: FirstRun) -> Iterator[Operator]:
    """Yield an operator of a complete project."""
    google = copy.deepcopy(first_run.google)
    google.sleep(fake_google.BUILD_SECONDS)
    with operating(google, tmp_path, rendered) as operator:
        yield operator


@pytest.fixture(scope="session")
def beside_run(rendered: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run `ops/setup` in an app's project once for many tests."""
    from tests.rehearsal import app  # noqa: PLC0415 - it imports this file

    return app.set_up(tmp_path_factory.mktemp("beside"), rendered)
