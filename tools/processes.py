"""The tree of processes that a command starts. It ends completely when the command ends.

Commands leave orphaned workers behind, some in other sessions. Every process inherits an
environment variable, which marks the workers.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Self

import psutil

from tools.steps import say

# The command that started a process, as `pid@start time`. Identifies leftovers of dead commands.
MARK = "WALL_SUITE"

# Time for a command to end after it has received our ending signal.
COMMAND_GRACE_SECONDS = 10.0
# Time between SIGTERM and SIGKILL.
TERM_GRACE_SECONDS = 2.0
# Time for a killed process to disappear.
KILL_GRACE_SECONDS = 5.0
# An ending process may start another process. More rounds than this mean a fork bomb.
MAX_ROUNDS = 10

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHELL_SIGNAL_BASE = 128
STATUS_NOT_EXECUTABLE = 126
STATUS_NOT_FOUND = 127


class Stopped(SystemExit):
    """A signal that ends this command was received."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(SHELL_SIGNAL_BASE + number)
        self.number = number


class ProcessTree:
    """A context manager that ends all processes that were started inside it.

    Ending signals raise `Stopped` in the main thread. Another signal during the end kills the
    remaining processes immediately.

    Attributes:
        mark: Value of the environment variable `MARK` of these processes.
    """

    def __init__(self) -> None:
        self.mark = _owner(psutil.Process())
        self._ending = False

    def __enter__(self) -> Self:
        end_leftovers()
        os.environ[MARK] = self.mark
        for number in ENDING_SIGNALS:
            # Keep nohup's protection from hang-ups. Handle interrupts even if a shell ignores them
            # for its background jobs.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self.end()

    @property
    def is_ending(self) -> bool:
        """Whether the tree is ending, so that no process may start."""
        return self._ending

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
        """Run a command in the foreground and return its exit status as a shell does."""
        try:
            process = subprocess.Popen(command, env=environment)
        except FileNotFoundError:
            say(f"{command[0]}: not found")
            return STATUS_NOT_FOUND
        except OSError as error:
            say(f"{command[0]}: {error.strerror}")
            return STATUS_NOT_EXECUTABLE
        try:
            status = process.wait()
        except Stopped as stopped:
            _forward_signal(stopped.number, process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(COMMAND_GRACE_SECONDS)
            raise
        return status if status >= 0 else SHELL_SIGNAL_BASE - status

    def members(self) -> list[psutil.Process]:
        """Return the running processes of the tree, except this one."""
        children = psutil.Process().children(recursive=True)
        known = {process.pid for process in children} | {os.getpid()}
        marked = (p for p in _marked_processes() if p.pid not in known)
        return children + [p for p in marked if _variable(p) == self.mark]

    def end(self) -> None:
        """Terminate every process of the tree, and kill those that are still running."""
        _end(self.members)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        if not self._ending:
            self._ending = True
            raise Stopped(signal.Signals(number))
        for process in self.members():
            with contextlib.suppress(psutil.Error):
                process.kill()


def end_leftovers() -> None:
    """End the processes that a killed command left running, in any checkout.

    Processes of running commands and of other containers are not touched.
    """

    def leftovers() -> list[psutil.Process]:
        return [p for p in _marked_processes() if _is_leftover(p)]

    if found := leftovers():
        say(f"Ending leftover processes of an earlier run: {len(found)} …")
        _end(leftovers)


def _is_leftover(process: psutil.Process) -> bool:
    owner = _variable(process)
    pid, _, _ = owner.partition("@")
    if not pid.isdigit() or _pid_namespace(process.pid) != _pid_namespace(os.getpid()):
        return False
    try:
        return _owner(psutil.Process(int(pid))) != owner
    except psutil.NoSuchProcess:
        return True


def _end(members: Callable[[], Iterable[psutil.Process]]) -> None:
    for _ in range(MAX_ROUNDS):
        if not (living := list(members())):
            break
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        _, stubborn = psutil.wait_procs(living, timeout=TERM_GRACE_SECONDS)
        for process in stubborn:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(stubborn, timeout=KILL_GRACE_SECONDS)


def _forward_signal(number: signal.Signals, pid: int) -> None:
    """Send a signal to a command and its foreground processes, as a terminal does."""
    if number is signal.SIGINT and _terminal_sent_interrupt():
        return
    with contextlib.suppress(psutil.Error):
        command = psutil.Process(pid)
        for process in (command, *command.children(recursive=True)):
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                if os.getpgid(process.pid) == os.getpgrp():
                    process.send_signal(number)


def _terminal_sent_interrupt() -> bool:
    """Return whether the terminal sent Ctrl-C to the command: it signals the whole group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _marked_processes() -> list[psutil.Process]:
    return [p for p in psutil.process_iter() if p.pid != os.getpid() and _variable(p)]


def _variable(process: psutil.Process) -> str:
    """Return the mark of a process. Empty if it has none or its environment is not readable."""
    try:
        return str(process.environ().get(MARK, ""))
    except (psutil.Error, OSError):
        return ""


def _owner(process: psutil.Process) -> str:
    return f"{process.pid}@{process.create_time():.2f}"


def _pid_namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""
