"""A deployed function in a process of its own, which a test may kill: the real runtime, our code.

The functions emulator runs the same `functions-framework`; here the test is its front end, and so
decides what is dispatched, how often, and what it can reach.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from google.cloud import firestore
from google.events.cloud.firestore import DocumentEventData

ROOT: Final = Path(__file__).parents[2]
_START_SECONDS: Final = 60
_FLUSH_SECONDS: Final = 300
"""The hub answers when all triggers that were due have run, one process after the other."""
_ANSWER_SECONDS: Final = 120


class FunctionProcess:
    """One function, served on a port of loopback; a context manager that ends it.

    `everything` holds what every process of this run has printed.
    """

    everything: ClassVar[list[str]] = []

    def __init__(
        self,
        function: str,
        *,
        event: bool = False,
        source: str = "main.py",
        **environment: str,
    ) -> None:
        """Start `function`, a trigger where `event`; `environment` goes over the suite's own.

        `source` is the file that has it, as seen from the project.
        """
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        signature = "cloudevent" if event else "http"
        self._process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "functions-framework"),
                f"--source={source}",
                f"--target={function}",
                f"--signature-type={signature}",
                "--host=127.0.0.1",
                f"--port={self.port}",
            ],
            cwd=ROOT,
            env=local_parameters() | dict(os.environ) | environment,
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
    def pid(self) -> int:
        """Process id of the runtime; its workers are its children."""
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL, at once, with all of its workers."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def printed(self) -> str:
        """End the process; all that it has printed, to the last line."""
        self.kill()
        return "".join(self.output)

    def dispatch(self, data: object, *, dispatched_before: int = 0) -> int | None:
        """Send a task or call as Cloud Tasks does; the status, None where no answer came."""
        headers = {
            "Content-Type": "application/json",
            "X-CloudTasks-TaskRetryCount": str(dispatched_before),
        }
        return self.post(json.dumps({"data": data}).encode(), headers)

    def written(self, event: "Written") -> int | None:
        """Send a Firestore event as Eventarc does; the status, None where no answer came."""
        return self.post(event.body, event.headers)

    def post(self, body: bytes, headers: dict[str, str]) -> int | None:
        """POST to the function; the status, None where no answer came."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310
                status: int = answer.status
                return status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            return None

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self.output.append(line)
            self.everything.append(line)
            if "Booting worker" in line:
                self._ready.set()
        self._ready.set()


class Written:
    """A CloudEvent `google.cloud.firestore.document.v1.written`, in Eventarc's binary form."""

    def __init__(
        self,
        db: firestore.Client,
        path: str,
        *,
        event_id: str,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        """A write of the document at `path`; None stands for no document."""
        now = datetime.now(UTC)
        name = f"projects/{db.project}/databases/(default)/documents/{path}"
        data = DocumentEventData()
        for field, fields in (("value", after), ("old_value", before)):
            if fields is not None:
                setattr(
                    data,
                    field,
                    {
                        "name": name,
                        "fields": _encoded(fields),
                        "create_time": now,
                        "update_time": now,
                    },
                )
        self.body: bytes = DocumentEventData.serialize(data)
        self.headers = {
            "Content-Type": "application/protobuf",
            "ce-id": event_id,
            "ce-specversion": "1.0",
            "ce-type": "google.cloud.firestore.document.v1.written",
            "ce-source": f"//firestore.googleapis.com/projects/{db.project}/databases/(default)",
            "ce-subject": f"documents/{path}",
            "ce-time": now.isoformat().replace("+00:00", "Z"),
            "ce-location": "us-central1",
            "ce-project": db.project,
            "ce-database": "(default)",
            "ce-namespace": "(default)",
            "ce-document": path,
        }


def _encoded(fields: dict[str, Any]) -> dict[str, Any]:
    encoders: dict[type, Callable[[Any], dict[str, Any]]] = {
        str: lambda value: {"string_value": value},
        datetime: lambda value: {"timestamp_value": value},
        type(None): lambda _: {"null_value": 0},
        bool: lambda value: {"boolean_value": value},
    }
    return {name: encoders[type(value)](value) for name, value in fields.items()}


def local_parameters() -> dict[str, str]:
    """What the functions emulator reads from the project's files."""
    lines = (ROOT / ".env.demo-wall").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return given | {"FUNCTIONS_EMULATOR": "true", "GUNICORN_LOG_LEVEL": "info"}


@contextlib.contextmanager
def background_triggers_off() -> Iterator[None]:
    """Write to Firestore without the suite's own triggers noticing."""
    _hub("disableBackgroundTriggers")
    try:
        yield
    finally:
        _hub("enableBackgroundTriggers")


def _hub(method: str) -> None:
    url = f"http://{os.environ['FIREBASE_EMULATOR_HUB']}/functions/{method}"
    request = urllib.request.Request(url, method="PUT")
    with urllib.request.urlopen(request, timeout=_FLUSH_SECONDS):  # noqa: S310 - likewise
        pass
