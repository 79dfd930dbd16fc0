"""Cloud Tasks with the test as its dispatcher: takes tasks as the tasks emulator does, keeps them.

What is queued stays queued until the test dispatches it, as often as the test likes.
"""

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Queued:
    """A task: the queue that it is on, its name, and the data that the function gets."""

    queue: str
    name: str
    data: Any


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # a hundred triggers at the same moment


class Tasks:
    """The API of the tasks emulator on a port of loopback; a context manager.

    `refuse` makes it answer 500; `on_lost` is called in place of taking a task.
    """

    def __init__(self) -> None:
        self.refuse = False
        self.on_lost: Callable[[], None] | None = None
        self.requests = 0
        self._tasks: dict[str, Queued] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def address(self) -> str:
        """Value of `CLOUD_TASKS_EMULATOR_HOST`."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def queued(self) -> list[Queued]:
        """Every task that was taken, in order."""
        with self._lock:
            return list(self._tasks.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _take(self, path: str, body: Any) -> int:
        if self.on_lost:
            self.on_lost()
            return 500
        with self._lock:
            self.requests += 1
            if self.refuse:
                return 500
            task = body["task"]
            whole_name = task["name"]  # a name is taken in its own queue only
            if whole_name in self._tasks:
                return 409
            data = json.loads(base64.b64decode(task["httpRequest"]["body"]))["data"]
            name = whole_name.rpartition("/")[2]
            self._tasks[whole_name] = Queued(path.split("/")[-2], name, data)
            return 200

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        tasks = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = tasks._take(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        return Handler
