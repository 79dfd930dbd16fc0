"""Every call of docs/calls.md, run as it stands beside `up`, gets the answer that stands there."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
# Seconds.
LIMIT: Final = 120
_MARK: Final = "-- answer --"


def calls() -> list[tuple[str, str]]:
    """The commands of the page, in its order, each with its answer."""
    page = (ROOT / "docs/calls.md").read_text()
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if language:
            continue  # for a program, not for a shell
        command: list[str] = []
        for line in block.splitlines():
            if line.startswith("# "):
                found.append(("\n".join(command), line.removeprefix("# ")))
                command = []
            else:
                command.append(line)
        if command:
            found.append(("\n".join(command), ""))
    return found


def shape(answer: str) -> Any:
    """What of an answer is the same each time: fields, and whether it worked."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        return answer
    return {outer: sorted(inner) for outer, inner in parsed.items()}


@pytest.fixture
def up() -> Iterator[str]:
    """The running suite, by what it has printed until it was ready."""
    runner = subprocess.Popen(
        [sys.executable, "-m", "emulator", "up"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert runner.stdout is not None
    printed = ""
    for line in runner.stdout:
        printed += line
        if line.startswith("Ctrl-C"):
            break
    yield printed
    runner.send_signal(signal.SIGINT)
    runner.communicate(timeout=LIMIT)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing")
def test_every_call_answers_as_the_page_says(up: str) -> None:
    """At once, from a shell in this folder, and each mailed picture loads."""
    assert "Ctrl-C ends everything." in up
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
            xargs curl -s -o /dev/null -w '%{http_code} %{content_type}\n'""",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    ).stdout.splitlines()
    assert set(pictures) == {"200 image/svg+xml"}
