"""A program in the background, with a wait for its start and a clean end."""

import contextlib
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psutil

from tools.paths import ROOT

_END_SECONDS: Final = 10.0


@dataclass(eq=False)
class Program:
    """A running program that prints a line when it is ready.

    Attributes:
        command: The program and its arguments.
        environment: The program's environment.
        ready: A part of the line that the program prints when it is ready.
        on_line: Called with each line that the program prints.
        ended: Set when the program has ended.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    ready: str
    on_line: Callable[[str], None]
    ended: threading.Event

    def __post_init__(self) -> None:
        """Start the program."""
        self._settled = threading.Event()
        self._is_ready = False
        self._process = subprocess.Popen(
            self.command,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def is_ready_within(self, seconds: float) -> bool:
        """Wait until the program is ready. Return False after `seconds`, or if it has ended."""
        self._settled.wait(seconds)
        return self._is_ready

    def end(self) -> None:
        """Terminate the program, then kill it and its children if they are still running."""
        tree: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            program = psutil.Process(self._process.pid)
            tree = [program, *program.children(recursive=True)]
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        for process in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        self._reader.join(_END_SECONDS)

    def _read(self) -> None:
        assert self._process.stdout  # noqa: S101 - it is a pipe
        with self._process.stdout as lines:
            for line in lines:
                self.on_line(line)
                if self.ready in line:
                    self._is_ready = True
                    self._settled.set()
        self.ended.set()
        self._settled.set()
