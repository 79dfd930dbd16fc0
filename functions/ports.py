"""Ports: protocols for the clock, randomness, threads, accounts, secrets and the task queue.

`functions/process.py` has the adapters of a deployed process.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Clock:
    """A process's time.

    Attributes:
        now: The time, aware and in UTC.
        monotonic: Seconds that only grow; they may begin at zero.
        sleep: Waits for some seconds.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]


def wire_time(moment: datetime) -> str:
    """`2026-05-01T18:30:00.000Z` for an aware `moment`, truncated to milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Item = TypeVar("Item")
Result = TypeVar("Result")


class InParallel(Protocol):
    """Calls a function for each item, several items at a time."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """The results in the order of the items.

        Raises:
            Exception: the error of the first failed item, raised after all items were tried.
        """


class Threads(Protocol):
    """The threads of a process."""

    def pool(self, at_once: int, name: str, *, helped: bool = ...) -> InParallel:
        """Threads that work on `at_once` items at a time; `name` stands in stack dumps.

        With `helped` the calling thread works on every item that no thread has begun. So no call
        waits for the items of other calls, and a call with one item needs no other thread.
        Otherwise no more than `at_once` items of all calls together are worked on.
        """

    def mutex(self) -> AbstractContextManager[object]:
        """A mutex for threads that share an object."""


class Random(Protocol):
    """Chance."""

    def word(self) -> str:
        """32 hex digits: an id that was never there before, and that nobody can guess."""

    def webhook_secret(self) -> str:
        """A fresh secret: `whsec_` and 32 bytes in base64, as Standard Webhooks have it."""


class Accounts(Protocol):
    """The users of Firebase Authentication; a call raises where it could not be asked."""

    def verified_addresses(self, uids: Collection[str]) -> Mapping[str, str]:
        """The verified e-mail addresses of those users who have one, by user id."""

    def claims_of(self, uid: str) -> Mapping[str, Any] | None:
        """What the user's next ID token says; None where the user is gone, or switched off."""


class SecretReader(Protocol):
    """Secret Manager."""

    def versions(self, name: str, *, at_most: int = ..., fresh: bool = ...) -> tuple[str, ...]:
        """Every enabled version of a secret, the newest first; `fresh`: as of the last seconds.

        Raises:
            MissingSecretError: the secret has no enabled version.
            Exception: Secret Manager could not be reached.
        """


LOCATION: Final = "us-central1"

DISPATCH_SECONDS: Final = 60
"""How long Cloud Tasks waits for an answer of most functions: the function's own time-out."""

TASKS_TIMEOUT_SECONDS: Final = 15.0
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


class MalformedTaskError(ValueError):
    """The body of a task is none that this release makes."""


class NotDueError(Exception):
    """A task cannot be carried out yet; its queue has to run it again later."""


class TaskQueue(Protocol):
    """Queues tasks; one instance serves all threads."""

    def enqueue(self, task: Task) -> None:
        """Queue `task`; a task of that name that was queued before, also long ago, is a success.

        Raises an exception where the task could not be queued.
        """
