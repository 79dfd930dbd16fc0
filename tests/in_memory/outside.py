"""Cloud Tasks and receivers in memory, as the ports of the webhooks reach them."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from functions.gcp.task_queue import Enqueue, Task
from functions.mail.message import EmailMessage
from functions.mail.outcome import SendOutcome
from functions.webhooks.deliveries.endpoint_url import EndpointUrl
from functions.webhooks.sender.ports import Response, Source
from tests.in_memory.through import Through, at_once

TOMBSTONE: Final = timedelta(hours=24)
"""How long the name of a task stays taken."""


class InMemoryTasks:
    """The service behind `Enqueue`, for all instances: it keeps a task of each name.

    Attributes:
        accepted: Every task that was queued, in that order.
    """

    def __init__(
        self, now: Callable[[], datetime], queued: Callable[[Task], object] = lambda _: None
    ) -> None:
        """`now` is the time of the service; `queued` sees to the dispatch of a task."""
        self.accepted: list[Task] = []
        self._now = now
        self._queued = queued
        self._names: dict[tuple[str, str], datetime] = {}

    def create(self, task: Task) -> None:
        """Queue `task`, unless its name is taken."""
        name, now = (task.queue, task.name), self._now()
        taken = self._names.get(name)
        if taken is not None and now - taken < TOMBSTONE:
            return
        self._names[name] = now
        self.accepted.append(task)
        self._queued(task)


def enqueue_to(tasks: InMemoryTasks, through: Through = at_once) -> Enqueue:
    """Queues a task among `tasks`."""
    return lambda task: through("queue.enqueue", lambda: tasks.create(task))


class ScriptedMailer:
    """See `provider.Mailer`; what becomes of a request is a function of it."""

    def __init__(
        self, send: Callable[[EmailMessage], SendOutcome], through: Through = at_once
    ) -> None:
        self._send = send
        self._through = through

    def send(self, message: EmailMessage) -> SendOutcome:
        """See `provider.Mailer`."""
        return self._through("mailer.send", lambda: self._send(message), retried=False)


class ScriptedSender:
    """See `ports.Sender`; what a receiver answers is a function of what it is sent."""

    def __init__(
        self,
        answer: Callable[[EndpointUrl, Mapping[str, str], bytes], int],
        through: Through = at_once,
        excerpt: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`answer` gives the HTTP status, or raises `SendError`; `excerpt` how its body began."""
        self._answer = answer
        self._excerpt = excerpt
        self._through = through

    def post(
        self,
        to: EndpointUrl,
        headers: Mapping[str, str],
        body: bytes,
        source: Source,  # noqa: ARG002 - receivers do not care
    ) -> Response:
        """See `ports.Sender`."""
        return Response(
            self._through("sender.post", lambda: self._answer(to, headers, body), retried=False),
            self._excerpt(),
        )
