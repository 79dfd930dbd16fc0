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
    """Clock of a process.

    Attributes:
        now: Returns the current time, aware and in UTC.
        monotonic: Returns monotonic seconds, which may start at zero.
        sleep: Sleeps for a number of seconds.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]


def wire_time(moment: datetime) -> str:
    """Format an aware `moment` as `2026-05-01T18:30:00.000Z`, truncated to milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Item = TypeVar("Item")
Result = TypeVar("Result")


class ParallelMap(Protocol):
    """Parallel map: calls a function for each item, several items at a time."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """Call `work` for every item and return the results in the order of the items.

        Raises:
            Exception: The error of the first failed item, raised after all items were tried.
        """


class Threads(Protocol):
    """Threads of a process."""

    def pool(self, at_once: int, name: str, *, caller_runs: bool = ...) -> ParallelMap:
        """Return a pool that works on `at_once` items at a time. `name` appears in stack dumps.

        With `caller_runs` the calling thread runs every item that no other thread has started. Then
        no call waits for the items of other calls, and a call with one item needs no other thread.
        Otherwise at most `at_once` items of all calls run concurrently.
        """

    def mutex(self) -> AbstractContextManager[object]:
        """Return a mutex for threads that share an object."""


class Random(Protocol):
    """Source of random IDs and secrets."""

    def new_id(self) -> str:
        """Return a random ID of 32 hex digits that is unique and cannot be guessed."""

    def webhook_secret(self) -> str:
        """Return a new secret: `whsec_` and 32 bytes in base64, as in Standard Webhooks."""


class Accounts(Protocol):
    """User accounts of Firebase Authentication. A call raises an error if it is unavailable."""

    def verified_addresses(self, uids: Collection[str]) -> Mapping[str, str]:
        """Return the verified email addresses of these users by user ID."""

    def claims_of(self, uid: str) -> Mapping[str, Any] | None:
        """Return the claims of the user's next ID token, or None if the user can't sign in."""


class MissingSecretError(Exception):
    """The secret has no enabled version. Cached values must not be used."""


class SecretReader(Protocol):
    """Reader of Secret Manager."""

    def versions(self, name: str, *, at_most: int = ..., fresh: bool = ...) -> tuple[str, ...]:
        """Return the enabled versions of a secret, newest first.

        With `fresh`, the values are at most some seconds old.

        Raises:
            MissingSecretError: The secret has no enabled version.
            Exception: Secret Manager is unavailable.
        """


LOCATION: Final = "us-central1"

DISPATCH_SECONDS: Final = 60
"""How long Cloud Tasks waits for the response of most functions: the function's own timeout."""

TASKS_TIMEOUT_SECONDS: Final = 15.0
"""Timeout for enqueueing one task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A call of the function `queue` with `data` at the time `due`, with a timeout in `seconds`.

    A `name` is used once: a second task with the same name is ignored, even after the first ran.
    """

    queue: str
    name: str
    data: Mapping[str, str | int]
    due: datetime
    seconds: int = DISPATCH_SECONDS

    @property
    def body(self) -> bytes:
        """Body of the request to the function, in the callable protocol."""
        return json.dumps({"data": dict(self.data)}).encode()


class MalformedTaskError(ValueError):
    """The task body is malformed or was created by another release."""


class NotDueError(Exception):
    """A task is not due yet. Its queue must retry it later."""


class TaskQueue(Protocol):
    """Queue of tasks. Shared by all threads."""

    def enqueue(self, task: Task) -> None:
        """Enqueue `task`. Succeed without effect if a task with that name was ever enqueued.

        Raises:
            Exception: The task could not be enqueued.
        """
