"""A stand-in for Cloud Tasks: takes tasks, and refuses what Cloud Tasks refuses.

What becomes of a task is decided by the code that it is handed to: `dispatcher` calls the function
as Cloud Tasks does, a test may keep the task.

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
from emulator.provider_models.cloud_tasks import Names
from functions.ports import LOCATION

MAX_AHEAD: Final = timedelta(days=30)
MAX_TASK_BYTES: Final = 1024 * 1024
MIN_DEADLINE_SECONDS: Final = 15
MAX_DEADLINE_SECONDS: Final = 30 * 60

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,500}")


@dataclass(frozen=True, slots=True)
class Queued:
    """A task as it was taken.

    Attributes:
        queue: Name of the queue, which is also the function's.
        name: Name of the task in its queue.
        body: What the function is called with.
        due: Unix seconds before which the task is not dispatched.
        deadline_seconds: How long a dispatch waits for an answer.
        account: E-mail address of the service account whose token the call carries.
        url: Where the call goes when deployed.
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
        queues: Names of the queues that exist; with None, every queue does.
        take: Called with each task, from several threads.
    """

    project: str
    queues: Collection[str] | None
    take: Callable[[Queued], None]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: str = field(default="google.cloud.tasks.v2.CloudTasks", init=False)

    def __post_init__(self) -> None:
        """Start without tasks."""
        self._prefix = f"projects/{self.project}/locations/{LOCATION}/queues/"
        self._names = Names()

    @property
    def methods(self) -> Mapping[str, Method]:
        """The only method that a function calls."""
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
        due = self._checked(task, name)
        if not self._names.take(queue, name, self.now()):
            raise Refused(
                grpc.StatusCode.ALREADY_EXISTS, "A task with this name existed too recently."
            )
        call = task.http_request
        self.take(
            Queued(
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

    def _checked(self, task: Any, name: str) -> float:
        """When a task is due.

        Raises:
            Refused: `INVALID_ARGUMENT`, as Cloud Tasks answers it.
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
