"""The process tree ends completely, including stubborn processes."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tools.processes import COMMAND_GRACE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 60

RUNNER = """
import sys
from tools import processes

processes.COMMAND_GRACE_SECONDS = float(sys.argv[2])
with processes.ProcessTree() as tree:
    sys.exit(tree.run([sys.executable, "-c", sys.argv[1]]))
"""

# Starts processes that are hard to end, prints their ids, and runs its last line.
COMMAND = """
import os, subprocess, sys
STUBBORN = '''
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(600)
'''
ORPHAN = '''
import os, subprocess, sys
command = [sys.executable, "-c", sys.argv[1]]
child = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
'''

def start(code, *arguments, **options):
    command = [sys.executable, "-c", code, *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    return child, child.stdout.readline().strip()

stubborn, _ = start(STUBBORN)
session, _ = start(STUBBORN, start_new_session=True)
_, orphan = start(ORPHAN, STUBBORN)
print(stubborn.pid, session.pid, orphan, flush=True)
"""
WAIT = "import time; time.sleep(600)"


def start(
    last_line: str, grace_seconds: float = COMMAND_GRACE_SECONDS
) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a tree. Return its runner and the IDs of the stubborn processes."""
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, COMMAND + last_line, str(grace_seconds)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert runner.stdout is not None
    pids = [int(word) for word in runner.stdout.readline().split()]
    assert len(pids) == 3, runner.communicate(timeout=LIMIT_SECONDS)
    return runner, pids


def alive(pids: list[int]) -> list[int]:
    """Return the IDs of running processes."""
    return [pid for pid in pids if psutil.pid_exists(pid) and not _is_zombie(pid)]


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    ("last_line", "status"),
    [("sys.exit(0)", 0), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 128 + 9)],
)
def test_the_end_of_the_command_ends_the_tree(last_line: str, status: int) -> None:
    """Return the command's status."""
    runner, pids = start(last_line)

    runner.communicate(timeout=LIMIT_SECONDS)

    assert runner.returncode == status
    assert alive(pids) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_tree(number: signal.Signals) -> None:
    """End stubborn and orphaned processes as well."""
    runner, pids = start(WAIT)

    runner.send_signal(number)
    runner.communicate(timeout=LIMIT_SECONDS)

    assert runner.returncode == 128 + number
    assert alive(pids) == []


def test_a_second_signal_ends_it_at_once() -> None:
    """Send SIGKILL without a grace period."""
    hear = 'signal.signal(signal.SIGINT, lambda *_: print("heard", flush=True))'
    command = f"import signal; {hear}; print(flush=True)\n{WAIT}"
    runner, pids = start(command, grace_seconds=3600)
    assert runner.stdout
    assert runner.stdout.readline() == "\n"

    runner.send_signal(signal.SIGINT)
    # The command is still running, so the runner is in its grace period.
    assert runner.stdout.readline() == "heard\n"
    runner.send_signal(signal.SIGINT)
    runner.communicate(timeout=LIMIT_SECONDS)

    assert alive(pids) == []


def test_the_next_run_ends_what_a_killed_one_left() -> None:
    """Clean up at the next start, because a process cannot handle SIGKILL."""
    killed, left = start(WAIT)
    killed.kill()
    killed.wait(LIMIT_SECONDS)
    assert alive(left) == left

    runner, pids = start("sys.exit(0)")
    runner.communicate(timeout=LIMIT_SECONDS)

    assert alive(left) == alive(pids) == []
