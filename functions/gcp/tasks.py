"""The task queue of this process: Cloud Tasks, or firebase-tools' emulator where there is one.

An app's developer runs the functions in that emulator.
"""

import base64
import http.client
import json
import os
from dataclasses import dataclass

from functions.cache import once
from functions.gcp.task_queue import CALL_SECONDS, LOCATION, Task, TaskQueue
from functions.parameters import project_id


class TasksOfThisProcess:
    """See `TaskQueue`; the first task makes the client, which would slow a cold start down."""

    def enqueue(self, task: Task) -> None:
        """See `TaskQueue`."""
        _queue().enqueue(task)


@once
def _queue() -> TaskQueue:
    if emulator := os.environ.get("CLOUD_TASKS_EMULATOR_HOST"):
        return EmulatedTasks(emulator)
    from functions.gcp.cloud_tasks import CloudTasks  # noqa: PLC0415 - a cold start

    return CloudTasks.of_environment()


@dataclass(frozen=True, slots=True)
class EmulatedTasks:
    """The tasks emulator at `host`: `name:port` or a URL, as in `CLOUD_TASKS_EMULATOR_HOST`."""

    host: str

    def enqueue(self, task: Task) -> None:
        """See `TaskQueue`; the emulator ignores `due`."""
        _post(self.host, task)


def _post(host: str, task: Task) -> None:
    queue = f"projects/{project_id() or ''}/locations/{LOCATION}/queues/{task.queue}"
    request = {
        "task": {
            "name": f"{queue}/tasks/{task.name}",
            "dispatchDeadline": f"{task.seconds}s",
            "httpRequest": {"url": "", "body": base64.b64encode(task.body).decode()},
        }
    }
    connection = http.client.HTTPConnection(host.removeprefix("http://"), timeout=CALL_SECONDS)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/{queue}/tasks", json.dumps(request), headers)
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    if answer.status not in (http.client.OK, http.client.CONFLICT):
        raise ConnectionError(f"the tasks emulator answered {answer.status}")
