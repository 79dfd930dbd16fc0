"""Cloud Tasks with the test as its dispatcher: queued tasks stay queued.

The test dispatches a task when it likes, and as often.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import grpc

from emulator.cloud import cloud_tasks
from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer, Refused
from emulator.cloud.secret_manager import SecretManager
from emulator.firebase import PROJECT
from tools import local_secrets


@dataclass(frozen=True, slots=True)
class Queued:
    """A task: the queue that it is on, its name, when it is due, and the function's data."""

    queue: str
    name: str
    due: float
    data: Any


class Tasks:
    """Google's APIs for the tests, the keys of the suite among them; a context manager.

    `on_lost` is called in place of taking a task.
    """

    def __init__(self) -> None:
        self.forget()
        self._server = ApiServer(
            cloud_tasks.CloudTasks(PROJECT, None, self._take),
            SecretManager(PROJECT, local_secrets.read()),
        )
        self._server.before["CreateTask"] = self._fail

    @property
    def environment(self) -> dict[str, Any]:
        """What leads a function's clients here."""
        return {ADDRESS_VARIABLE: self._server.address}

    @property
    def address(self) -> str:
        """Where it listens: `host:port`."""
        return self._server.address

    def forget(self) -> None:
        """Begin anew."""
        self.on_lost: Callable[[], None] | None = None
        self.queued: list[Queued] = []
        """Every task that was taken, in order."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _fail(self) -> None:
        if self.on_lost:
            self.on_lost()
            raise Refused(grpc.StatusCode.INTERNAL, "as told")

    def _take(self, task: cloud_tasks.Queued) -> None:
        data = json.loads(task.body)["data"]
        self.queued.append(Queued(task.queue, task.name, task.due, data))
