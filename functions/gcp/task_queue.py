"""Tasks: calls of this project's functions through Cloud Tasks.

The client library cannot talk to Firebase's emulator of tasks, which speaks plain HTTP with other
paths and answers; so `EmulatedTasks` does there what `CloudTasks` does in the cloud.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

LOCATION: Final = "us-central1"

DISPATCH_SECONDS: Final = 60
"""How long Cloud Tasks waits for an answer of most functions: the function's own time-out."""

CALL_SECONDS: Final = 15.0
"""Limit for queuing one task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A call of the function `queue` with `data`, not before `due`, answered within `seconds`.

    A `name` is queued once: a second task of the same name is dropped, even after the first ran.
    """

    queue: str
    name: str
    data: Mapping[str, str | int]
    due: datetime
    seconds: int = DISPATCH_SECONDS

    @property
    def body(self) -> bytes:
        """The body of the request to the function, in the callable protocol."""
        return json.dumps({"data": dict(self.data)}).encode()


class TaskQueue(Protocol):
    """Queues tasks; one instance serves all threads."""

    def enqueue(self, task: Task) -> None:
        """Queue `task`; a task of that name that was queued before, also long ago, is a success.

        Raises an exception where the task could not be queued.
        """
