"""Google Cloud by way of `gcloud` and `firebase`: asked what there is, told what to change."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parent.parent
_TOOLS: Final = ROOT / "emulator" / "node_modules" / ".bin"


Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


class CommandError(Exception):
    """A command failed, or is not there; the text says which, and ends with what it said."""


class Cloud:
    """One project.

    Attributes:
        project: Its id.
        changes: How many commands that change something were run, or would have been.
    """

    def __init__(self, project: str, *, dry_run: bool, run: Run = subprocess.run) -> None:
        """With `dry_run` nothing is changed: what would be is only told; `run` starts programs."""
        self._start = run
        self.project = project
        self.dry_run = dry_run
        self.changes = 0
        # firebase-tools are installed in the checkout; whatever is on PATH comes first.
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(_TOOLS)])
        self._environment = {**os.environ, "PATH": path, "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}

    def ask(self, *command: str) -> Any:
        """What a command that changes nothing answers, out of its JSON; None for no answer.

        Raises:
            CommandError: it failed.
        """
        ran = self._run(self._complete(command, json_wanted=True), capture=True)
        return json.loads(ran) if ran.strip() else None

    def change(self, why: str, *command: str, given: str | None = None) -> None:
        """Say why and run a command that changes something; `given` is its input, never shown.

        Without `given` the command may ask whoever runs this.

        Raises:
            CommandError: it failed.
        """
        self.changes += 1
        complete = self._complete(command, json_wanted=False)
        say(f"{'would ' if self.dry_run else ''}{why}")
        say(f"  {shlex.join(complete)}")
        if not self.dry_run:
            self._run(complete, capture=False, given=given)

    def _complete(self, command: Sequence[str], *, json_wanted: bool) -> list[str]:
        made = [*command, f"--project={self.project}"]
        if not json_wanted:
            return made
        return [*made, "--json" if command[0] == "firebase" else "--format=json"]

    def _run(self, command: Sequence[str], *, capture: bool, given: str | None = None) -> str:
        try:
            ran = self._start(
                command,
                cwd=ROOT,
                env=self._environment,
                input=given,
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.PIPE if capture else None,
                text=True,
                check=False,
            )
        except OSError as error:
            raise CommandError(f"{command[0]}: {error.strerror}") from error
        if ran.returncode:
            said = (ran.stderr or "").strip()
            raise CommandError(f"{shlex.join(command)} failed ({ran.returncode})\n{said}".strip())
        return ran.stdout or ""


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
