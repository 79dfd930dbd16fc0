"""`python3 -m emulator up`: every call of docs/calls.md gets the documented response."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from tests.functions_emulator.marked import marked
from tests.unit.docs.test_calls import calls
from tools.processes import MARK

ROOT: Final = Path(__file__).parents[2]
LIMIT_SECONDS: Final = 120
_MARK: Final = "-- answer --"


def shape(answer: str) -> Any:
    """Return the constant part of a response: its field names."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        return answer
    return {outer: sorted(inner) for outer, inner in parsed.items()}


class Up:
    """The running command.

    Attributes:
        printed: Its output until it was ready.
        mark: The mark of its processes.
    """

    def __init__(self) -> None:
        """Start the command."""
        self._runner = subprocess.Popen(
            [sys.executable, "-m", "emulator", "up"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.printed = ""

    def wait(self) -> None:
        """Wait until the service is ready."""
        assert self._runner.stdout
        for line in self._runner.stdout:
            self.printed += line
            if line.startswith("Ctrl-C"):
                break
        first = psutil.Process(self._runner.pid).children()[0]
        self.mark: str = first.environ()[MARK]

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit status."""
        self._runner.send_signal(signal.SIGINT)
        self._runner.communicate(timeout=LIMIT_SECONDS)
        return self._runner.returncode


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    """Run the command for all tests. The last test ends it."""
    started = Up()
    try:
        started.wait()
        yield started
    finally:
        started.interrupt()


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing")
def test_every_documented_call_gets_its_response(up: Up) -> None:
    """Run docs/calls.md, and load each picture of an email."""
    assert "Ctrl-C ends everything." in up.printed
    commands = calls()
    assert len(commands) > 5
    script = f"\necho; echo '{_MARK}'\n".join(command for command, _ in commands)

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_SECONDS,
    )

    answers = [answer.strip() for answer in done.stdout.split(_MARK)]
    assert [shape(answer) for answer in answers] == [shape(expected) for _, expected in commands]

    pictures = subprocess.run(
        [
            *("bash", "-c"),
            r"""curl -s 127.0.0.1:9180/mails/1.html | grep -oE "src='[^']+'" | cut -d"'" -f2 |
            sed s/^/127.0.0.1:9180/ |
            xargs curl -s -o /dev/null -w '%{http_code} %{content_type}\n'""",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_SECONDS,
    ).stdout.splitlines()
    assert set(pictures) == {"200 image/svg+xml"}


def test_the_sweep_runs_on_demand(up: Up) -> None:
    """Call sweep: the local service has no schedule."""
    assert "the command sweep" in up.printed
    asked = ". .emulator/calls; sweep -o /dev/null -w '%{http_code}'"
    done = subprocess.run(
        ["bash", "-c", asked],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_SECONDS,
    )
    assert done.stdout == "200"


def test_ctrl_c_ends_the_whole_tree(up: Up) -> None:
    """End every emulator and worker, with the status of an interrupt."""
    assert marked(up.mark)

    assert up.interrupt() == 128 + signal.SIGINT

    assert marked(up.mark) == []
