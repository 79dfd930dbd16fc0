"""`python3 -m emulator`, run as a user runs it. These tests start and stop the suite themselves."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from emulator.processes import MARK

ROOT = Path(__file__).resolve().parents[2]
RUNNER = (sys.executable, "-m", "emulator")
# Seconds.
LIMIT = 120


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start the runner without a terminal, as a CI system does."""
    return subprocess.Popen(
        [*RUNNER, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def marked(mark: str) -> list[psutil.Process]:
    """Return the living processes that carry a suite's mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_exec_hands_its_streams_and_status_through_and_leaves_nothing_running() -> None:
    """CMD has our standard input and output to itself; its exit status is ours."""
    runner = start("exec", "--", "sh", "-c", f"echo ${MARK}; cat; exit 7")

    output, errors = runner.communicate("one line\n", timeout=LIMIT)

    mark, rest = output.split("\n", 1)
    assert (runner.returncode, rest) == (7, "one line\n"), errors
    assert marked(mark) == []


def test_ctrl_c_ends_the_whole_tree() -> None:
    """An interrupt ends CMD and every emulator and worker, and the status says why."""
    runner = start("exec", "--", "sh", "-c", f"echo ${MARK}; exec sleep 600")
    assert runner.stdout is not None
    mark = runner.stdout.readline().strip()
    assert marked(mark), runner.communicate(timeout=LIMIT)

    runner.send_signal(signal.SIGINT)
    runner.communicate(timeout=LIMIT)

    assert runner.returncode == 128 + signal.SIGINT
    assert marked(mark) == []


def test_a_busy_port_is_named_with_its_emulator_and_its_holder() -> None:
    """Nothing is started, there is no traceback, and the status is 2."""
    with socket.create_server(("127.0.0.1", 9099)):
        runner = start("exec", "--", "true")
        _, errors = runner.communicate(timeout=LIMIT)

    assert runner.returncode == 2
    assert "Port 9099 is taken" in errors
    assert f"process {os.getpid()} " in errors
    assert "auth" in errors
    assert "Traceback" not in errors


def test_exec_without_a_command_explains_itself() -> None:
    """A wrong command line is answered with the right one."""
    runner = start("exec", "--")

    _, errors = runner.communicate(timeout=LIMIT)

    assert runner.returncode == 2
    assert "exec -- CMD" in errors
