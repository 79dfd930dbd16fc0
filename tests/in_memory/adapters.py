"""Build a `Service` from adapters in memory; a test passes the adapters that it inspects."""

import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from functions.cache import lazy_property
from functions.firestore.model import Documents
from functions.ports import Clock, MissingSecretError, ParallelMap
from functions.recap.planner import Planner
from functions.recap.slots import Slots
from functions.service import Adapters, Service
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "EMAIL_PREFS_KEY": ("the key of links in mails, of the tests",),
    "LOG_LINKS_KEY": ("the key of links to logs, of the tests",),
    "SENDGRID_API_KEY": ("SG.tests",),
}

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class InMemorySecrets:
    """A `SecretReader`. Unless `fresh`, it returns `kept`: values from before a rotation."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: KEYS)
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def versions(self, name: str, *, at_most: int = 100, fresh: bool = False) -> tuple[str, ...]:
        """Return the values of the secret, the newest first."""
        if name not in self.keys:
            raise MissingSecretError(name)
        values = self.keys if fresh else {**self.keys, **self.kept}
        return values[name][:at_most]


def _none(*_: object) -> Any:
    raise AssertionError("this test has no such adapter")


@dataclass(slots=True)
class InMemoryRandom:
    """A `Random` whose values a test can choose."""

    new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    webhook_secret: Callable[[], str] = _none


@dataclass(slots=True)
class InMemoryAccounts:
    """An `Accounts` without users."""

    verified_addresses: Callable[[Collection[str]], Mapping[str, str]] = lambda _: {}
    claims_of: Callable[[str], Mapping[str, Any] | None] = lambda _: None


def one_by_one(work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
    """Apply `work` to each item in order, without threads."""
    return [work(item) for item in items]


@dataclass(slots=True)
class InMemoryThreads:
    """A `Threads` that starts no threads."""

    in_parallel: ParallelMap = one_by_one
    mutex: Callable[[], AbstractContextManager[object]] = threading.Lock

    def pool(self, *_: object, **__: object) -> ParallelMap:
        """Return the parallel map of this test."""
        return self.in_parallel


class NoTasks:
    """A `TaskQueue` that fails the test if a task is queued."""

    enqueue = staticmethod(_none)


class InMemoryService(Service):
    """A service whose calls do not wait for a slot, as no other thread would return one."""

    def __init__(self, adapters: Adapters, slots: Slots | None = None) -> None:
        """Use `slots`, by default slots of its own."""
        super().__init__(adapters)
        self._slots = slots or Slots(wait_seconds=0)

    @lazy_property
    def planner(self) -> Planner:
        """The planner, with these slots."""
        return replace(super().planner, slots=self._slots)


def service_on(
    documents: Documents | None = None,
    *,
    slots: Slots | None = None,
    kind: type[InMemoryService] = InMemoryService,
    **adapters: Any,
) -> Service:
    """Build the service of a process that starts at `NOW` with these documents and adapters."""
    clock = Clock(lambda: NOW, lambda: 0.0, _none)
    used = documents or InMemoryDocuments(Firestore(lambda: NOW))
    defaults: dict[str, Any] = {
        "clock": clock,
        "documents": lambda: used,
        "task_queue": NoTasks(),
        "secrets": InMemorySecrets(),
        "sender": lambda: None,
        "mailer": lambda: None,
        "threads": InMemoryThreads(),
        "accounts": InMemoryAccounts(),
        "random": InMemoryRandom(),
    }
    return kind(Adapters(**(defaults | adapters)), slots)
