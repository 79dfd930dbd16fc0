"""Steps of the installation: programs, their logs and the report of failures.

This module uses only the standard library, because it runs before the installation.
"""

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.paths import ROOT, STATE

LOG_TAIL_LINES = 25


class SetupError(Exception):
    """The user must install or free something. The text explains what and how."""


def say(text: str, *, end: str = "\n") -> None:
    """Print a line of progress to standard error, separate from the output of commands."""
    print(text, end=end, file=sys.stderr, flush=True)


def output_of(command: Sequence[str]) -> tuple[int, str]:
    """Run a program. Return its status, or 127 if it cannot be started, and its output."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return 127, ""
    return done.returncode, done.stdout.strip()


def run_step(
    title: str,
    command: Sequence[str],
    *,
    log: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    hint: str = "",
) -> None:
    """Run one step of the installation, with its output in a log file under STATE.

    Raises:
        SetupError: The step failed. The text ends with the log's last lines.
    """
    STATE.mkdir(exist_ok=True)
    path = STATE / log
    say(f"{title} …", end="")
    started = time.monotonic()
    try:
        with path.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A separate group, so that it can be ended with all of its children.
                start_new_session=True,
            )
    except OSError as error:
        say(" failed")
        raise SetupError(f"{command[0]}: {error.strerror}") from error
    try:
        status = process.wait()
    except BaseException:
        # If the process has just ended, macOS reports a lack of permission.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        say(" stopped")
        raise
    seconds = time.monotonic() - started
    if status:
        say(f" failed after {seconds:.1f} s")
        tail = "\n".join(f"  {line}" for line in log_tail(path))
        shown = path.relative_to(ROOT)
        raise SetupError(
            "\n".join(filter(None, [f"{title} failed. The end of {shown}:", tail, hint]))
        )
    say(f" {seconds:.1f} s")


def log_tail(path: Path) -> list[str]:
    """Return the last lines of a log, except empty lines."""
    return [line for line in read(path).splitlines() if line.strip()][-LOG_TAIL_LINES:]


@contextlib.contextmanager
def install_lock() -> Iterator[None]:
    """Hold the lock of installations. The system releases it when its holder ends."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for the installation of another run in this checkout …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> str:
    """Return a file's text, empty if there is no file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def digest(*texts: str) -> str:
    """Return a digest of `texts`."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
