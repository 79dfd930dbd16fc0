"""Firestore in memory with a clock. Every call takes a second."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from functions.firestore.model import Delete, Put
from functions.ports import Clock
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)

T = TypeVar("T")


class WallFixture:
    """One project.

    Attributes:
        at: Actions that run once, before the next call of a name such as `find photos`.
    """

    def __init__(self) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.at: dict[str, Callable[[], object]] = {}
        self.firestore = Firestore(lambda: self.now)
        self.documents = InMemoryDocuments(self.firestore, self._through)
        self.clock = Clock(lambda: self.now, lambda: self.seconds, lambda _: None)

    def put(self, *paths: str, **fields: Any) -> None:
        """Write these documents."""
        self.firestore.commit(*(Put(path, fields) for path in paths))

    def delete(self, path: str) -> None:
        """Delete the document."""
        self.firestore.commit(Delete(path))

    def fields(self, path: str) -> Mapping[str, Any]:
        """Return the fields of a document that exists."""
        found = self.firestore.get(path)
        assert found is not None
        return found.fields

    def _through(self, what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        self.seconds += 1
        self.at.pop(what, lambda: None)()
        return effect()
