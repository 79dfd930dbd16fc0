"""A program that runs beside others: started, waited for, and ended."""

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
    """A running program whose output says when it is ready.

    Attributes:
        command: The program and its arguments.
        environment: Its environment.
        ready: It is ready when it prints a line that holds this.
        on_line: Called with each line that it prints.
        ended: Set when it has ended.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    ready: str
    on_line: Callable[[str], None]
    ended: threading.Event

    def __post_init__(self) -> None:
        """Start it."""
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
        """Wait until it is ready; False when that takes longer, or when it has ended."""
        self._settled.wait(seconds)
        return self._is_ready

    def end(self) -> None:
        """Ask it to end; kill it when it stays, and what it leaves behind."""
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
