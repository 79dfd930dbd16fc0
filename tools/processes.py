"""The tree of processes that a command starts, ended as a whole however the command ends.

Commands leave workers behind: orphaned, and in sessions of their own. Every process inherits an
environment variable, by which the workers are found.
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

# Who started a process, as `pid@start time`: tells leftovers of a dead command from others.
MARK = "WALL_SUITE"

# Seconds for a command to end after the signal that ends us was handed on.
COMMAND_GRACE = 10.0
# Seconds between SIGTERM and SIGKILL.
TERM_GRACE = 2.0
# Seconds to see a killed process gone.
KILL_GRACE = 5.0
# A process may start another while it is being ended; more rounds than this mean a fork bomb.
MAX_ROUNDS = 10

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHELL_SIGNAL_BASE = 128
STATUS_NOT_EXECUTABLE = 126
STATUS_NOT_FOUND = 127


class Stopped(SystemExit):
    """A signal asks this command to end."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(SHELL_SIGNAL_BASE + number)
        self.number = number


class ProcessTree:
    """Everything started while it is entered; leaving it ends all of that.

    `mark` is the value of `MARK` in the environment of its processes.

    Ending signals raise `Stopped` in the main thread. One more signal while the tree is being
    ended kills the remaining processes at once.
    """

    def __init__(self) -> None:
        self.mark = _owner(psutil.Process())
        self._ending = False

    def __enter__(self) -> Self:
        end_leftovers()
        os.environ[MARK] = self.mark
        for number in ENDING_SIGNALS:
            # Under nohup a hang-up is to be survived. An interrupt is heeded even where a shell
            # that runs us in the background has switched it off.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            signal.signal(number, self._heed)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self.end()

    @property
    def is_ending(self) -> bool:
        """Whether nothing more is to be started."""
        return self._ending

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
        """Run a command in the foreground and return its exit status, as a shell reports it."""
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
            _hand_on(stopped.number, process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(COMMAND_GRACE)
            raise
        return status if status >= 0 else SHELL_SIGNAL_BASE - status

    def members(self) -> list[psutil.Process]:
        """Return the living processes of the tree, this one not among them."""
        children = psutil.Process().children(recursive=True)
        known = {process.pid for process in children} | {os.getpid()}
        marked = (p for p in _marked_processes() if p.pid not in known)
        return children + [p for p in marked if _variable(p) == self.mark]

    def end(self) -> None:
        """End every process of the tree: asked first, killed when it stays."""
        _end(self.members)

    def _heed(self, number: int, _frame: FrameType | None) -> None:
        if not self._ending:
            self._ending = True
            raise Stopped(signal.Signals(number))
        for process in self.members():
            with contextlib.suppress(psutil.Error):
                process.kill()


def end_leftovers() -> None:
    """End what a command that was killed outright left running, wherever it ran.

    A suite whose owner is alive is left alone, as is one in another container.
    """

    def leftovers() -> list[psutil.Process]:
        return [p for p in _marked_processes() if _is_leftover(p)]

    if found := leftovers():
        say(f"Ending {len(found)} processes that an earlier run left behind …")
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
        _, stubborn = psutil.wait_procs(living, timeout=TERM_GRACE)
        for process in stubborn:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(stubborn, timeout=KILL_GRACE)


def _hand_on(number: signal.Signals, pid: int) -> None:
    """Pass a signal to a command and to what it runs in the foreground, as a terminal does."""
    if number is signal.SIGINT and _terminal_has_sent_it():
        return
    with contextlib.suppress(psutil.Error):
        command = psutil.Process(pid)
        for process in (command, *command.children(recursive=True)):
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                if os.getpgid(process.pid) == os.getpgrp():
                    process.send_signal(number)


def _terminal_has_sent_it() -> bool:
    """Tell whether Ctrl-C reached the command already: a terminal sends it to the whole group."""
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
    """Return the mark of a process; empty where it has none, or its environment is not readable."""
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
