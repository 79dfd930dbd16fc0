"""Steps of an installation: programs that are run, their logs, and how a failure is told.

Standard library only: this runs before anything is installed.
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
    """Something that the user has to provide or to free; its text says what and how."""


def say(text: str, *, end: str = "\n") -> None:
    """Print a line of progress to standard error, where no command's own output goes."""
    print(text, end=end, file=sys.stderr, flush=True)


def output_of(command: Sequence[str]) -> tuple[int, str]:
    """Run a short-lived program; its status and what it said, 127 where it cannot be started."""
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
    """Run one step of the installation, its output in a log file under STATE.

    Raises:
        SetupError: The step failed; the text ends with the log's last lines.
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
                # A group of its own, so that it can be ended with all its children.
                start_new_session=True,
            )
    except OSError as error:
        say(" failed")
        raise SetupError(f"{command[0]}: {error.strerror}") from error
    try:
        status = process.wait()
    except BaseException:
        # It may have ended at the same moment; macOS reports that as a lack of permission.
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
        raise SetupError("\n".join(filter(None, [f"{title} failed; {shown} ends:", tail, hint])))
    say(f" {seconds:.1f} s")


def log_tail(path: Path, lines: int = LOG_TAIL_LINES) -> list[str]:
    """Return the last lines of a log, without the empty ones."""
    return [line for line in read(path).splitlines() if line.strip()][-lines:]


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Let one run install at a time; the lock falls when its holder ends, however it ends."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another run of this checkout that is installing …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> str:
    """Return a file's text, empty if there is no file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def digest(*texts: str) -> str:
    """Return one text that differs where any of `texts` does."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
