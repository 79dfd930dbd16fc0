"""A project in a stand-in for Google's and Firebase's command lines."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from ops import applying, setting_up
from tests.unit.ops import stand_in

ROOT: Final = Path(__file__).parents[3]
_READS: Final = {
    *("list", "describe", "get-iam-policy"),
    *("login:list", "projects:list", "functions:list"),
}
_MAIN: Final[dict[str, Callable[..., int]]] = {
    "apply": applying.main,
    "setup": setting_up.main,
}


class Project:
    """An empty project, and the scripts that are run against it.

    Attributes:
        state: What there is in it now; `calls` has those of the last run.
        typed: What whoever runs a script types in.
    """

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.state: dict[str, Any] = copy.deepcopy(stand_in.EMPTY)
        self.typed = "SG.typed-in\n"
        self._folder = folder
        self._capture = capture

    @property
    def changes(self) -> list[list[str]]:
        """Calls of the last run that change something."""
        return [one for one in self.state["calls"] if not _READS & set(one)]

    @property
    def kept(self) -> dict[str, Any]:
        """A copy of all that there is but the calls."""
        return copy.deepcopy(self.state | {"calls": []})

    def run(self, script: str, *arguments: str) -> tuple[int, str, str]:
        """Run a script in this process; its status, output and errors."""
        self.state["calls"] = []
        self._capture.readouterr()
        try:
            status = _MAIN[script](arguments, self._start)
        except SystemExit as ended:  # argparse's way
            status = int(str(ended.code))
        said = self._capture.readouterr()
        return status, said.out, said.err

    def _start(
        self,
        command: Sequence[str],
        *,
        input: str | None,  # noqa: A002 - as subprocess has it
        **_: Any,
    ) -> subprocess.CompletedProcess[str]:
        typed = self.typed if input is None else input
        status, output, errors = stand_in.handle(self.state, command[0], [*command[1:]], typed)
        return subprocess.CompletedProcess(command, status, output, errors)

    def run_on_path(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script as an operator does, with the stand-ins first on PATH."""
        state_file = self._folder / "state.json"
        state_file.write_text(json.dumps(self.state | {"calls": []}))
        programs = self._folder / "bin"
        programs.mkdir(exist_ok=True)
        for name in ("gcloud", "firebase"):
            program = programs / name
            line = f'exec {sys.executable} -IS {stand_in.__file__} "$0" "$@"'
            program.write_text(f"#!/bin/sh\n{line}\n")
            program.chmod(0o755)
        ran = subprocess.run(
            [sys.executable, str(ROOT / "ops" / script), *arguments],
            env={
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self._folder),
                "STAND_IN_STATE": str(state_file),
            },
            input=self.typed,
            capture_output=True,
            text=True,
            check=False,
        )
        self.state = json.loads(state_file.read_text())
        return ran


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty one."""
    return Project(tmp_path, capsys)
