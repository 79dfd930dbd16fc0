"""Documents of Firestore as data: what a store reads and writes, and the one seam to it.

`functions.firestore.client` implements `Documents`, and the tests fake it.

Clients and other releases have written some documents: each field may be missing or of a wrong
type. What cannot be read becomes nothing and never an error, because a trigger that fails on a
document fails for ever.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

from functions import log


class ChangedMeanwhileError(Exception):
    """A document was created, changed or deleted after it was read; nothing was written."""


class AlreadyRecordedError(ChangedMeanwhileError):
    """One of the documents to create exists; nothing was written."""


Version: TypeAlias = int
"""Nanoseconds since 1970 of the last write; a write on this condition fails after any other."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read.

    Attributes:
        path: Such as `users/u1`.
        fields: Values by name, of the types that `write` names.
        version: Of its last write.
        created: The time of its creation.
    """

    path: str
    fields: Mapping[str, Any]
    version: Version
    created: datetime

    @property
    def id(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def written(self) -> datetime:
        """The time of the last write, in microseconds."""
        return _EPOCH + timedelta(microseconds=self.version // 1000)


Status = TypeVar("Status", bound=StrEnum)
Record = TypeVar("Record")


def text(value: object) -> str | None:
    """`value` where it is a string."""
    return value if isinstance(value, str) else None


def time(value: object) -> datetime | None:
    """`value` in UTC where it is an aware time."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else None


def status(fields: Mapping[str, Any], otherwise: Status) -> Status:
    """The field `status`, or `otherwise` where it is none of that enumeration."""
    try:
        return type(otherwise)(str(fields.get("status")))
    except ValueError:
        return otherwise


def readable(documents: Iterable[Document], read: Callable[[Document], Record]) -> Iterator[Record]:
    """The records in `documents`; a record that cannot be read is logged and passed over."""
    for document in documents:
        record = read_or_none(document, read)
        if record is not None:
            yield record


def read_or_none(document: Document, read: Callable[[Document], Record]) -> Record | None:
    """The record in `document`; None, and a line with its path, where it cannot be read."""
    try:
        return read(document)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it
        log.fault("record.unreadable", error, path=document.path)
        return None


class Written(NamedTuple):
    """The result of a write: the new version, and the new sums of `add`."""

    version: Version
    sums: Sequence[int]


NAME: Final = "__name__"
"""The field with the path of a document."""

TEXT_BYTES: Final = 1499
"""Firestore refuses a query by a longer text."""

Condition: TypeAlias = tuple[str, str, Any]
"""A field, an operator and a value, such as `("status", "==", "approved")`.

The operators are `==`, `<`, `<=`, `>`, `>=`, and `in` for 30 values at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The documents of a collection that meet every condition.

    Attributes:
        collection: Path of the collection, such as `events/e1/photos`.
        group: Whether `collection` is only the id of collections anywhere; or, where it ends in a
            slash as in `events/e1/`, stands for every collection under a document.
        where: The conditions.
        order: Fields, `-` before a descending one; equal documents follow by path, in the direction
            of the last field. A field that is compared by `<` or `>` must stand first.
        select: Fields to read beside those of `order`; empty: all.
        limit: Most documents to read; None: no limit.
        after: Values of `order` and a path: only documents behind that place.
    """

    collection: str
    group: bool = False
    where: Sequence[Condition] = ()
    order: Sequence[str] = ()
    select: Sequence[str] = ()
    limit: int | None = None
    after: Sequence[Any] = ()

    def behind(self, path: str, fields: Mapping[str, Any], read: int = 0) -> Self:
        """The rest of the query behind that document, with which `read` documents were read."""
        values = [fields[name.removeprefix("-")] for name in self.order]
        limit = None if self.limit is None else self.limit - read
        return replace(self, after=(*values, path), limit=limit)


Fields: TypeAlias = (
    Mapping[str, Any] | Mapping[tuple[str, str], Any] | Mapping[str | tuple[str, str], Any]
)
"""Values by field, or by a map and a field inside the map."""


@dataclass(frozen=True, slots=True)
class Create:
    """Create a document that must not exist."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Put:
    """Replace a document, or create it."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """Write some fields of a document, or create it; all other fields stay.

    Fields in `delete` are deleted. The numbers of `add` are added to fields, where a missing field
    counts as 0.
    """

    path: str
    fields: Fields = field(default_factory=dict)
    delete: Sequence[str] = field(default=(), kw_only=True)
    add: Mapping[str, int] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True, slots=True)
class Update(Merge):
    """Do the same to a document that must exist, in `version` where that is given."""

    version: Version | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a document; where `version` is given, the document must exist in that version."""

    path: str
    version: Version | None = None


Write: TypeAlias = Create | Put | Merge | Delete


def write_as_read(
    path: str,
    fields: Mapping[str, Any],
    version: Version | None,
    *,
    delete: Sequence[str] = (),
) -> Create | Update:
    """The write to a document that must be as it was read: missing, where `version` is None."""
    if version is None:
        return Create(path, fields)
    return Update(path, fields, delete=delete, version=version)


def may_repeat(writes: Sequence[Write]) -> bool:
    """Whether a commit of `writes` may be made again without adding a number twice.

    A sum may not be added twice, unless a new document or a version makes the second commit fail.
    """
    adds = any(isinstance(write, Merge) and write.add for write in writes)
    return not adds or any(
        isinstance(write, Create)
        or (isinstance(write, Update | Delete) and write.version is not None)
        for write in writes
    )


CALL_SECONDS: Final = 25.0
"""Limit of one call with its retries: longer than an outage of some seconds, and short enough to
leave time for further calls."""

TRANSACTIONS: Final = 5
"""Tries of one transaction, as many as Google's libraries make."""

_PAGE: Final = 3000
"""Documents of one query: some megabytes."""


class Documents(ABC):
    """Documents by path, such as `users/u1`; one instance serves all threads.

    Each abstract method but `transact` is one call. A call is retried for at most `seconds` where a
    repetition is safe. After that it raises an exception of the adapter's own.
    """

    @abstractmethod
    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """The document, or only `fields` of it; None where it does not exist."""

    @abstractmethod
    def get_all(
        self, paths: Sequence[str], fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """The documents in the order of `paths`, None for each that does not exist."""

    @abstractmethod
    def stream(self, query: Query) -> Iterator[Document]:
        """The documents of a query as they come; a caller that stops early reads no more of them.

        A stream that breaks goes on behind the last document.
        """

    @abstractmethod
    def count(self, query: Query) -> int:
        """The number of documents of a query; a thousand cost as much as the read of a document."""

    @abstractmethod
    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """Make all writes, or none.

        A commit that could add a number twice is repeated only where the connection was lost.

        Raises:
            AlreadyRecordedError: a document of a `Create` exists.
            ChangedMeanwhileError: a document is missing, or has another version.
            Exception: the call failed; the writes may have been made all the same.
        """

    @abstractmethod
    def write_each(
        self, writes: Sequence[Write], *, seconds: float = CALL_SECONDS
    ) -> Sequence[Written | Exception]:
        """Make each of 500 writes at most by itself; the result of each, or its error.

        A second write of one document is not made.

        Raises:
            Exception: the call failed; some writes may have been made all the same.
        """

    @abstractmethod
    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """Read the document at `path` and make the writes that `decide` returns, in a transaction.

        The whole is done again where the document was written meanwhile, perhaps by a commit of
        this very transaction whose answer was lost.

        Raises:
            ChangedMeanwhileError: others kept writing the document.
            Exception: the error of `decide`, and nothing was written; or a call failed, and the
                writes may have been made all the same.
        """

    def grouped(self) -> "Documents":
        """The same documents, for many threads that each read and write one of them."""
        return self

    def find(self, query: Query) -> Sequence[Document]:
        """The documents of a query."""
        return list(self.stream(query))

    def find_all(self, query: Query) -> Iterator[Document]:
        """The documents of a query, in one call for every `query.limit` documents."""
        size = query.limit or _PAGE
        page = replace(query, limit=size)
        while True:
            found = self.find(page)
            yield from found
            if len(found) < size:
                return
            page = page.behind(found[-1].path, found[-1].fields)
