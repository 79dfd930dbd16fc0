"""A stand-in for Cloud Tasks' API: it accepts and rejects tasks as Cloud Tasks does.

It passes accepted tasks on. `dispatcher` calls the function as Cloud Tasks does. A test may keep
the task instead.

https://cloud.google.com/tasks/docs/reference/rpc/google.cloud.tasks.v2
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import grpc
from google.cloud import tasks_v2

from emulator.cloud.api_server import Method, Refused
from emulator.provider_models.cloud_tasks import TaskNames
from functions.ports import LOCATION

MAX_AHEAD: Final = timedelta(days=30)
MAX_TASK_BYTES: Final = 1024 * 1024
MIN_DEADLINE_SECONDS: Final = 15
MAX_DEADLINE_SECONDS: Final = 30 * 60

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,500}")


@dataclass(frozen=True, slots=True)
class QueuedTask:
    """An accepted task.

    Attributes:
        queue: Name of the queue, and of its function.
        name: Name of the task in its queue.
        body: Body of the request to the function.
        due: Earliest time of the dispatch, in Unix seconds.
        deadline_seconds: Maximum time that a dispatch waits for a response.
        account: Email address of the service account whose token the request carries.
        url: URL of the deployed function.
    """

    queue: str
    name: str
    body: bytes
    due: float
    deadline_seconds: float
    account: str
    url: str


@dataclass(eq=False)
class CloudTasks:
    """The queues of one project.

    Attributes:
        queues: Names of the existing queues, or None to accept any name.
        on_task: Called with each task, from several threads.
    """

    project: str
    queues: Collection[str] | None
    on_task: Callable[[QueuedTask], None]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: str = field(default="google.cloud.tasks.v2.CloudTasks", init=False)

    def __post_init__(self) -> None:
        """Prepare empty queues."""
        self._prefix = f"projects/{self.project}/locations/{LOCATION}/queues/"
        self._names = TaskNames()

    @property
    def methods(self) -> Mapping[str, Method]:
        """CreateTask, the only method that the functions call."""
        return {
            "CreateTask": Method(self._create, tasks_v2.CreateTaskRequest.pb(), tasks_v2.Task.pb()),
        }

    def _create(self, request: Any) -> Any:
        task = request.task
        queue = request.parent.removeprefix(self._prefix)
        exists = self.queues is None or queue in self.queues
        if not exists or not request.parent.startswith(self._prefix):
            raise Refused(grpc.StatusCode.NOT_FOUND, "Queue does not exist.")
        name = task.name.removeprefix(f"{request.parent}/tasks/")
        due = self._validate(task, name)
        if not self._names.claim(queue, name, self.now()):
            raise Refused(
                grpc.StatusCode.ALREADY_EXISTS, "A task with this name existed too recently."
            )
        call = task.http_request
        self.on_task(
            QueuedTask(
                queue=queue,
                name=name,
                body=call.body,
                due=due,
                deadline_seconds=task.dispatch_deadline.seconds,
                account=call.oidc_token.service_account_email,
                url=call.url,
            )
        )
        return task

    def _validate(self, task: Any, name: str) -> float:
        """Return the task's due time in Unix seconds.

        Raises:
            Refused: Cloud Tasks would answer `INVALID_ARGUMENT`.
        """
        call, now = task.http_request, self.now()
        due = task.schedule_time.ToDatetime(UTC) if task.HasField("schedule_time") else now
        deadline = task.dispatch_deadline.seconds
        wrong = {
            "Task.name": not _NAME.fullmatch(name),
            "Task.schedule_time": due > now + MAX_AHEAD,
            "Task.dispatch_deadline": not (
                MIN_DEADLINE_SECONDS <= deadline <= MAX_DEADLINE_SECONDS
            ),
            "HttpRequest.url": not call.url.startswith(("https://", "http://")),
            "OidcToken.service_account_email": not call.oidc_token.service_account_email,
            "Task": task.ByteSize() > MAX_TASK_BYTES,
        }
        for place, is_wrong in wrong.items():
            if is_wrong:
                raise Refused(grpc.StatusCode.INVALID_ARGUMENT, f"{place} is not valid.")
        return due.timestamp()
