"""A Firestore of one process: documents by path, commits that happen as a whole or not at all.

A document is any value that nobody changes: the fields as a mapping, or a noun of the core. What
is kept of Firestore: reads see every commit before them; a commit is atomic; a create wants
nothing there, an update wants the document as it was read; two commits never have one time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

_TICK: Final = timedelta(microseconds=1)


class AlreadyExistsError(Exception):
    """One of the documents to create is there; nothing was written."""


class ChangedError(Exception):
    """One of the documents is gone, or not as it was read; nothing was written."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document: `version` is the time of the commit that wrote it last."""

    value: Any
    version: datetime
    created: datetime


@dataclass(frozen=True, slots=True)
class Create:
    """Write a document that must not be there."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Update:
    """Write what `change` makes of a document that must be there, in `version` where one is given.

    Without a version it is what Firestore does with an update that has no precondition of its own,
    or with a transaction that reads and writes the document.
    """

    path: str
    change: Callable[[Any], Any]
    version: datetime | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """Write a document over any present one."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a document, if it is there; in `version` where one is given."""

    path: str
    version: datetime | None = None


Write: TypeAlias = Create | Update | Set | Delete
Watch: TypeAlias = Callable[[str, Stored | None, Stored | None], object]


class Database:
    """All documents of the project."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """`now` is the time of the service."""
        self._now = now
        self._last = datetime.min.replace(tzinfo=now().tzinfo)
        self._collections: dict[str, dict[str, Stored]] = {}
        self._watches: list[Watch] = []

    def set_clock(self, now: Callable[[], datetime]) -> None:
        """Take the time from elsewhere from now on."""
        self._now = now

    def watch(self, see: Watch) -> None:
        """Have `see` told of every write: its path, and the document before and after."""
        self._watches.append(see)

    def get(self, path: str) -> Stored | None:
        """The document at `path`, such as `events/e1`."""
        collection, _, name = path.rpartition("/")
        return self._collections.get(collection, {}).get(name)

    def collection(self, path: str) -> Iterator[tuple[str, Stored]]:
        """Every document of a collection, such as `events/e1/photos`, by its id, in that order."""
        return iter(sorted(self._collections.get(path, {}).items()))

    def count(self, path: str) -> int:
        """How many documents a collection has."""
        return len(self._collections.get(path, ()))

    def group(self, name: str) -> Iterator[tuple[str, Stored]]:
        """Every document of every collection of that name, by its path, in that order."""
        for collection in sorted(self._collections):
            if collection.rpartition("/")[2] == name:
                for document, stored in self.collection(collection):
                    yield f"{collection}/{document}", stored

    def commit(self, *writes: Write) -> datetime:
        """Make all of the writes, or none; the time of the commit.

        Raises:
            AlreadyExistsError: a document to create is there.
            ChangedError: a document to update is not there, or not in that version.
        """
        for write in writes:
            self._check(write)
        self._last = at = max(self._now(), self._last + _TICK)
        for write in writes:
            self._write(write, at)
        return at

    def _check(self, write: Write) -> None:
        found = self.get(write.path)
        match write:
            case Create():
                if found is not None:
                    raise AlreadyExistsError(write.path)
            case Update():
                if found is None or write.version not in (None, found.version):
                    raise ChangedError(write.path)
            case Delete(version=version) if version is not None:
                if found is None or found.version != version:
                    raise ChangedError(write.path)
            case _:
                pass

    def _write(self, write: Write, at: datetime) -> None:
        collection, _, name = write.path.rpartition("/")
        documents = self._collections.setdefault(collection, {})
        before = documents.get(name)
        after: Stored | None = None
        match write:
            case Create(value=value) | Set(value=value):
                after = Stored(value, at, before.created if before else at)
            case Update(change=change):
                if before is not None:
                    after = Stored(change(before.value), at, before.created)
            case Delete():
                pass
        if after is not None:
            documents[name] = after
        else:
            documents.pop(name, None)
        for see in self._watches:
            see(write.path, before, after)
