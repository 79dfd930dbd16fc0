"""Cloud Tasks and receivers in memory, behind the ports of the webhooks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from emulator.provider_models.cloud_tasks import TaskNames
from functions.ports import Task
from functions.webhooks.worker import Response, Source
from tests.in_memory.through import Through, at_once


@dataclass(eq=False)
class InMemoryTasks:
    """The service behind `TaskQueue`, shared by all instances. It accepts each task name once."""

    now: Callable[[], datetime]
    queued: Callable[[Task], object] = lambda _: None
    """Dispatches a task."""
    accepted: list[Task] = field(default_factory=list)
    """Every task that was queued, in that order."""
    _names: TaskNames = field(default_factory=TaskNames)

    def create(self, task: Task) -> None:
        """Queue `task` unless its name was used before."""
        if self._names.claim(task.queue, task.name, self.now()):
            self.accepted.append(task)
            self.queued(task)


@dataclass(frozen=True, slots=True)
class InMemoryTaskQueue:
    """A `TaskQueue` of one instance."""

    tasks: InMemoryTasks
    through: Through = at_once

    def enqueue(self, task: Task) -> None:
        """Queue the task."""
        self.through("queue.enqueue", lambda: self.tasks.create(task))


@dataclass(frozen=True, slots=True)
class ScriptedSender:
    """A `Sender` whose receivers answer as scripted."""

    answer: Callable[[str, Mapping[str, str], bytes], int]
    """Returns the HTTP status, or raises `SendError`."""
    through: Through = at_once
    excerpt: Callable[[], str | None] = lambda: None
    """Returns the beginning of the response body."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes, _: Source) -> Response:
        """Return the scripted response to a request."""
        return Response(
            self.through("sender.post", lambda: self.answer(url, headers, body), retried=False),
            self.excerpt(),
        )
