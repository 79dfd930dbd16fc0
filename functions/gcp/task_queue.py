"""Cloud Tasks: one task for each attempt of a delivery (design 2).

The client library cannot talk to the local emulator, which is plain HTTP without the version in
its paths and with an answer of its own; so `cloud_tasks` and `emulated_tasks` do the same.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

LOCATION: Final = "us-central1"

DISPATCH_SECONDS: Final = 60
"""How long Cloud Tasks waits for the worker's answer: the worker's own time-out."""

CALL_SECONDS: Final = 15.0
"""How long the queuing of one task may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A call of the function `queue` with `data`, not before `due`.

    Two tasks of one `name` are one: the second is not queued, also long after the first has run.
    """

    queue: str
    name: str
    data: Mapping[str, str | int]
    due: datetime

    @property
    def body(self) -> bytes:
        """The request that the function gets: a callable's body."""
        return json.dumps({"data": dict(self.data)}).encode()


Enqueue: TypeAlias = Callable[[Task], None]
"""Queues a task; a task of that name that was queued before, also long ago, is a success.

Raises an exception where the task could not be queued.
"""
