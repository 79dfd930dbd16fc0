"""A function in its own process, started as Google starts it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol, Self

from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.environment import function_environment
from emulator.cloud.secret_manager import SecretManager
from emulator.firebase import PROJECT
from emulator.server import HOST
from tools.paths import ROOT, VENV

ENTRY: Final = "emulator/cloud/entry.py"

LOG_VARIABLE: Final = "WALL_SUITE_LOG"
"""Environment variable with the path of the suite's log."""

PRINTED: Final = ">  "
"""Prefix of a function's lines in that log."""

_START_SECONDS: Final = 60
_RESPONSE_SECONDS: Final = 120
_LISTENING: Final = re.compile(rf"Listening at: http://{HOST}:(\d+)")
_BOOTED: Final = "Booting worker"


class TriggerRequest(Protocol):
    """A CloudEvent over HTTP."""

    body: bytes
    headers: dict[str, str]


class FunctionProcess:
    """A function that is served on loopback. A context manager that ends the process.

    Attributes:
        port: The port that the function listens on.
        output: The lines that the process has printed.
    """

    def __init__(
        self,
        function: str,
        *,
        is_trigger: bool = False,
        source: str = ENTRY,
        secrets: Mapping[str, str] | None = None,
        base: Mapping[str, str] = os.environ,
        on_line: Callable[[str], None] | None = None,
        **environment: str,
    ) -> None:
        """Start `function` and wait until it listens.

        Args:
            function: The function's name.
            is_trigger: Whether Eventarc calls the function.
            source: The file that defines the function, relative to the project.
            secrets: The secrets that this process can read. By default, those of the suite.
            base: Environment with the addresses of the stand-ins.
            on_line: Called with each printed line. By default, lines go to the suite's log.
            environment: Variables that override those of Google.

        Raises:
            TimeoutError: The function does not listen after a minute.
        """
        self.port = 0
        signature = "cloudevent" if is_trigger else "http"
        self._secrets = contextlib.ExitStack()
        if secrets is not None:
            server = self._secrets.enter_context(ApiServer(SecretManager(PROJECT, secrets)))
            environment[ADDRESS_VARIABLE] = server.address
        self._on_line = on_line or _log
        self._is_killed = False
        self._process = subprocess.Popen(
            [
                str(VENV / "bin" / "functions-framework"),
                f"--source={source}",
                f"--target={function}",
                f"--signature-type={signature}",
                f"--host={HOST}",
                "--port=0",
            ],
            cwd=ROOT,
            env=function_environment(function, signature, base) | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.output: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(_START_SECONDS):
            self.kill()
            raise TimeoutError("".join(self.output))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def is_running(self) -> bool:
        """Whether the process is alive and was not killed."""
        return not self._is_killed and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process ID of the runtime, the parent of its workers."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the process and its workers with SIGKILL."""
        self._is_killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._secrets.close()

    def stop_and_read_output(self) -> str:
        """Kill the process and return everything that it printed."""
        self.kill()
        return "".join(self.output)

    def dispatch(self, data: object) -> int | None:
        """Send a new task as Cloud Tasks does. Return the status, or None without a response."""
        headers = {"Content-Type": "application/json", "X-CloudTasks-TaskRetryCount": "0"}
        return self.post(json.dumps({"data": data}).encode(), headers)

    def send_write(self, write: TriggerRequest) -> int | None:
        """Send a write as Eventarc does. Return the status, or None without a response."""
        return self.post(write.body, write.headers)

    def post(self, body: bytes, headers: Mapping[str, str]) -> int | None:
        """POST to the function. Return the status, or None without a response."""
        address = f"http://{HOST}:{self.port}/"
        request = urllib.request.Request(address, body, dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=_RESPONSE_SECONDS) as response:  # noqa: S310
                status: int = response.status
                return status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            return None

    def _read(self) -> None:
        assert self._process.stdout  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            self.output.append(line)
            self._on_line(line)
            if found := _LISTENING.search(line):
                self.port = int(found[1])
            elif _BOOTED in line:
                self._ready.set()
        self._ready.set()


def _log(line: str) -> None:
    if path := os.environ.get(LOG_VARIABLE):
        with Path(path).open("a") as log:
            log.write(f"{PRINTED}{line}")
