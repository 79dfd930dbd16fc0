"""A `Service` on adapters in memory; a test hands in the adapters that it looks at."""

import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from functions.firestore.model import Documents
from functions.gcp.secret_manager import MissingSecretError
from functions.ports import Clock, ParallelMap
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
    """See `SecretReader`; `kept` was read before a rotation, and is not fresh."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: KEYS)
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def versions(self, name: str, *, at_most: int = 100, fresh: bool = False) -> tuple[str, ...]:
        """See `SecretReader`."""
        if name not in self.keys:
            raise MissingSecretError(name)
        values = self.keys if fresh else {**self.keys, **self.kept}
        return values[name][:at_most]


def _none(*_: object) -> Any:
    raise AssertionError("this test has no such adapter")


@dataclass(slots=True)
class InMemoryRandom:
    """See `Random`."""

    new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    webhook_secret: Callable[[], str] = _none


@dataclass(slots=True)
class InMemoryAccounts:
    """See `Accounts`; no user is known."""

    verified_addresses: Callable[[Collection[str]], Mapping[str, str]] = lambda _: {}
    claims_of: Callable[[str], Mapping[str, Any] | None] = lambda _: None


def one_by_one(work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
    """See `ParallelMap`: one after the other, in their order."""
    return [work(item) for item in items]


@dataclass(slots=True)
class InMemoryThreads:
    """See `Threads`."""

    in_parallel: ParallelMap = one_by_one
    mutex: Callable[[], AbstractContextManager[object]] = threading.Lock

    def pool(self, *_: object, **__: object) -> ParallelMap:
        """See `Threads`."""
        return self.in_parallel


class NoTasks:
    """See `TaskQueue`; nothing may be queued."""

    enqueue = staticmethod(_none)


def having(service: Service, **objects: Any) -> Service:
    """The service with these objects in place of those that it would make, by name."""
    vars(service).update(objects)
    return service


def service_on(documents: Documents | None = None, **adapters: Any) -> Service:
    """A process that has just begun, at `NOW`, on these documents and adapters."""
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
    return Service(Adapters(**(defaults | adapters)))
