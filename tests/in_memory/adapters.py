"""A `Service` on adapters in memory; a test hands in the adapters that it looks at."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from functions.firestore.model import Documents
from functions.gcp.secret_manager import MissingSecretError
from functions.outside import Clock
from functions.parts import Adapters
from functions.service import Service
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


def one_by_one(work: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
    """See `InParallel`: one after the other, in their order."""
    return [work(item) for item in items]


def _none(*_: object) -> Any:
    raise AssertionError("this test has no such adapter")


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
        "grouped_documents": lambda: used,
        "task_queue": NoTasks(),
        "secrets": InMemorySecrets(),
        "sender": lambda: None,
        "mailer": lambda: None,
        "threads": lambda *_, **__: one_by_one,
        "verified_addresses": lambda _: {},
        "claims_of": lambda _: None,
        "new_word": lambda: uuid.uuid4().hex,
        "new_secret": _none,
    }
    return Service(Adapters(**(defaults | adapters)))
