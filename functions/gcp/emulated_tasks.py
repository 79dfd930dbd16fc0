"""The tasks emulator of firebase-tools, for an app's developer who runs the functions there."""

import base64
import http.client
import json

from functions.gcp.project import project_id
from functions.gcp.task_queue import CALL_SECONDS, DISPATCH_SECONDS, LOCATION, Task


def enqueue(host: str, task: Task) -> None:
    """Queue `task` in the emulator at `host`, which ignores `due`.

    Succeeds without effect where a task of that name was queued before. `host` is `name:port` or a
    URL, as in `CLOUD_TASKS_EMULATOR_HOST`.
    """
    queue = f"projects/{project_id() or ''}/locations/{LOCATION}/queues/{task.queue}"
    request = {
        "task": {
            "name": f"{queue}/tasks/{task.name}",
            "dispatchDeadline": f"{DISPATCH_SECONDS}s",
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
