"""The tasks emulator of firebase-tools, for an app's developer who runs the functions there."""

import base64
import http.client
import json
from dataclasses import dataclass
from typing import Self

from functions.gcp.project import project_id
from functions.gcp.task_queue import CALL_SECONDS, DISPATCH_SECONDS, LOCATION, Task


@dataclass(frozen=True, slots=True)
class EmulatedTasks:
    """Queues tasks in the tasks emulator of firebase-tools, which ignores `due`."""

    host: str
    """`name:port`, as in `CLOUD_TASKS_EMULATOR_HOST`."""
    project: str

    @classmethod
    def of_environment(cls, host: str) -> Self:
        """The emulator at `host`, for this process's project."""
        return cls(host.removeprefix("http://"), project_id() or "")

    def enqueue(self, task: Task) -> None:
        """Queue `task`; succeeds without effect where a task of that name was queued before."""
        queue = f"projects/{self.project}/locations/{LOCATION}/queues/{task.queue}"
        request = {
            "task": {
                "name": f"{queue}/tasks/{task.name}",
                "dispatchDeadline": f"{DISPATCH_SECONDS}s",
                "httpRequest": {"url": "", "body": base64.b64encode(task.body).decode()},
            }
        }
        connection = http.client.HTTPConnection(self.host, timeout=CALL_SECONDS)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/{queue}/tasks", json.dumps(request), headers)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        if answer.status not in (http.client.OK, http.client.CONFLICT):
            raise ConnectionError(f"the tasks emulator answered {answer.status}")
