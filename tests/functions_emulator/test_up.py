"""`python3 -m emulator up`: every call of docs/calls.md gets the answer that stands there."""

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
# Seconds.
LIMIT: Final = 120
_MARK: Final = "-- answer --"


def shape(answer: str) -> Any:
    """What of an answer is the same each time: fields, and whether it worked."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        return answer
    return {outer: sorted(inner) for outer, inner in parsed.items()}


class Up:
    """The running suite.

    Attributes:
        printed: What it has printed until it was ready.
        mark: What its processes carry.
    """

    def __init__(self) -> None:
        """Start it."""
        self._runner = subprocess.Popen(
            [sys.executable, "-m", "emulator", "up"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.printed = ""

    def wait(self) -> None:
        """Wait until it is ready."""
        assert self._runner.stdout
        for line in self._runner.stdout:
            self.printed += line
            if line.startswith("Ctrl-C"):
                break
        first = psutil.Process(self._runner.pid).children()[0]
        self.mark: str = first.environ()[MARK]

    def interrupt(self) -> int:
        """Press Ctrl-C; its exit status."""
        self._runner.send_signal(signal.SIGINT)
        self._runner.communicate(timeout=LIMIT)
        return self._runner.returncode


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    """One for all tests; the last of them ends it."""
    started = Up()
    try:
        started.wait()
        yield started
    finally:
        started.interrupt()


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing")
def test_every_call_answers_as_the_page_says(up: Up) -> None:
    """Each call of docs/calls.md answers as its example, and each mailed picture loads."""
    assert "Ctrl-C ends everything." in up.printed
    commands = calls()
    assert len(commands) > 5
    script = f"\necho; echo '{_MARK}'\n".join(command for command, _ in commands)

    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMIT
    )

    answers = [answer.strip() for answer in done.stdout.split(_MARK)]
    assert [shape(answer) for answer in answers] == [shape(expected) for _, expected in commands]

    pictures = subprocess.run(
        [
            *("bash", "-c"),
            r"""curl -s 127.0.0.1:9180/mails/1.html | grep -oE 'src="[^"]+"' | cut -d'"' -f2 |
            sed s/^/127.0.0.1:9180/ |
            xargs curl -s -o /dev/null -w '%{http_code} %{content_type}\n'""",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    ).stdout.splitlines()
    assert set(pictures) == {"200 image/svg+xml"}


def test_the_sweep_runs_when_it_is_asked_for(up: Up) -> None:
    """Nothing else runs it in the local suite."""
    assert "the command sweep" in up.printed
    asked = ". .emulator/calls; sweep -o /dev/null -w '%{http_code}'"
    done = subprocess.run(
        ["bash", "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMIT
    )
    assert done.stdout == "200"


def test_ctrl_c_ends_the_whole_tree(up: Up) -> None:
    """An interrupt ends every emulator and worker, and the status says why."""
    assert marked(up.mark)

    assert up.interrupt() == 128 + signal.SIGINT

    assert marked(up.mark) == []
