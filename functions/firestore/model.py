"""Documents, queries and writes as data, and `Documents`, the port to Firestore.

`functions.firestore.client` implements `Documents`, and tests replace it by a fake.

Clients and other releases may write documents: each field may be missing or have a wrong type. An
invalid value is read as None and never raises an error, because a trigger that fails on a document
would fail forever.

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
    """A document was created, changed or deleted after it was read. No write was applied."""


class AlreadyRecordedError(ChangedMeanwhileError):
    """One of the documents to create exists. No write was applied."""


Version: TypeAlias = int
"""Time of the last write in nanoseconds since 1970. A conditional write fails if it has changed."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read.

    Attributes:
        path: Path of the document, such as `users/u1`.
        fields: Values by name, of the types in `functions.firestore.codec`.
        version: Version of the document.
        created: Time of the document's creation.
    """

    path: str
    fields: Mapping[str, Any]
    version: Version
    created: datetime

    @property
    def id(self) -> str:
        """Last segment of the path."""
        return self.path.rpartition("/")[2]

    @property
    def written(self) -> datetime:
        """Time of the last write, rounded down to microseconds."""
        return _EPOCH + timedelta(microseconds=self.version // 1000)


Status = TypeVar("Status", bound=StrEnum)
Record = TypeVar("Record")


def as_text(value: object) -> str | None:
    """Return `value` if it is a string, else None."""
    return value if isinstance(value, str) else None


def as_time(value: object) -> datetime | None:
    """Return `value` in UTC if it is an aware datetime, else None."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else None


def as_status(fields: Mapping[str, Any], otherwise: Status) -> Status:
    """Return the field `status`, or `otherwise` if the enumeration does not have its value."""
    try:
        return type(otherwise)(str(fields.get("status")))
    except ValueError:
        return otherwise


def readable(documents: Iterable[Document], read: Callable[[Document], Record]) -> Iterator[Record]:
    """Yield the parsed records of `documents`. Log and skip invalid records."""
    for document in documents:
        record = read_or_none(document, read)
        if record is not None:
            yield record


def read_or_none(document: Document, read: Callable[[Document], Record]) -> Record | None:
    """Return the parsed record, or log its path and return None if it is invalid."""
    try:
        return read(document)
    except Exception as error:  # noqa: BLE001 - the record may be invalid in any way
        log.fault("record.unreadable", error, path=document.path)
        return None


class Written(NamedTuple):
    """Result of a write: the new version, and the new sums of `add`."""

    version: Version
    sums: Sequence[int]


NAME: Final = "__name__"
"""Name of the pseudo-field with the path of a document."""

TEXT_BYTES: Final = 1499
"""Maximum bytes of a text in a query. Firestore rejects longer texts."""

Condition: TypeAlias = tuple[str, str, Any]
"""A field, an operator and a value, such as `("status", "==", "approved")`.

The operators are `==`, `<`, `<=`, `>`, `>=`, and `in` with at most 30 values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Query for the documents of a collection that meet every condition.

    Attributes:
        collection: Path of the collection, such as `events/e1/photos`.
        group: Whether to query a collection group. `collection` is the ID of the collections, or
            ends in a slash, such as `events/e1/`, for every collection under a document.
        where: Conditions of the query.
        order: Fields to sort by, with the prefix `-` for descending order. Equal documents are
            sorted by path, in the direction of the last field. A field that is compared by `<` or
            `>` must be the first.
        select: Fields to read in addition to the fields of `order`. By default all fields.
        limit: Maximum number of documents, or None.
        after: Values of `order` and a path after which the results start.
    """

    collection: str
    group: bool = False
    where: Sequence[Condition] = ()
    order: Sequence[str] = ()
    select: Sequence[str] = ()
    limit: int | None = None
    after: Sequence[Any] = ()

    def behind(self, path: str, fields: Mapping[str, Any], read: int = 0) -> Self:
        """Return the query for the documents after `path`, if `read` documents were read so far."""
        values = [fields[name.removeprefix("-")] for name in self.order]
        limit = None if self.limit is None else self.limit - read
        return replace(self, after=(*values, path), limit=limit)


Fields: TypeAlias = (
    Mapping[str, Any] | Mapping[tuple[str, str], Any] | Mapping[str | tuple[str, str], Any]
)
"""Values by field name, or by the names of a map and of a field inside the map."""


@dataclass(frozen=True, slots=True)
class Create:
    """A write that creates a document, which must not exist."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Put:
    """A write that replaces or creates a document."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """A write to some fields of a document, which is created if it does not exist.

    `delete` names fields to delete. `add` has numbers to add to fields. A missing field counts as
    0. All other fields stay.
    """

    path: str
    fields: Fields = field(default_factory=dict)
    delete: Sequence[str] = field(default=(), kw_only=True)
    add: Mapping[str, int] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True, slots=True)
class Update(Merge):
    """A merge into a document that must exist, in `version` unless that is None."""

    version: Version | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Delete:
    """A deletion of a document, which must exist in `version` unless that is None."""

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
    """Return a write on the condition that the document still has `version`.

    If `version` is None, the document must not exist.
    """
    if version is None:
        return Create(path, fields)
    return Update(path, fields, delete=delete, version=version)


def may_repeat(writes: Sequence[Write]) -> bool:
    """Return whether a commit of `writes` can be repeated without adding a number twice.

    A commit with `add` can be repeated only if a new document or a version fails the second commit.
    """
    adds = any(isinstance(write, Merge) and write.add for write in writes)
    return not adds or any(
        isinstance(write, Create)
        or (isinstance(write, Update | Delete) and write.version is not None)
        for write in writes
    )


FIRESTORE_TIMEOUT_SECONDS: Final = 25.0
"""Timeout of one call, including retries. Longer than a short outage, and short enough to leave
time for other calls."""

TRANSACTIONS: Final = 5
"""Maximum attempts of one transaction, as in Google's libraries."""

_PAGE: Final = 3000
"""Maximum documents of one query, which is some megabytes."""


class Documents(ABC):
    """Port to Firestore: documents by path, such as `users/u1`. Shared by all threads.

    Each abstract method except `transact` is one call. A call is retried for at most `seconds` if a
    retry is safe. After that it raises an exception of the adapter.
    """

    @abstractmethod
    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Document | None:
        """Return the document, or only its `fields`, or None if it does not exist."""

    @abstractmethod
    def get_all(
        self,
        paths: Sequence[str],
        fields: Sequence[str] = (),
        *,
        seconds: float = FIRESTORE_TIMEOUT_SECONDS,
    ) -> Sequence[Document | None]:
        """Return the documents in the order of `paths`, with None for each missing document.

        Without paths, Firestore is not called.
        """

    @abstractmethod
    def stream(self, query: Query) -> Iterator[Document]:
        """Yield the documents of a query as they arrive, as long as the caller iterates.

        An interrupted stream continues after the last document.
        """

    @abstractmethod
    def count(self, query: Query) -> int:
        """Count the documents of a query. A thousand documents cost as much as one read."""

    @abstractmethod
    def commit(
        self, *writes: Write, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Sequence[Written]:
        """Apply all writes atomically.

        A commit that could add a number twice is retried only if the service is unavailable.

        Raises:
            AlreadyRecordedError: A document of a `Create` exists.
            ChangedMeanwhileError: A document is missing or has another version.
            Exception: The call failed. The writes may have been applied.
        """

    @abstractmethod
    def write_each(
        self, writes: Sequence[Write], *, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Sequence[Written | Exception]:
        """Apply up to 500 writes independently, and return the result or error of each.

        A second write to the same document is not applied.

        Raises:
            Exception: The call failed. Some writes may have been applied.
        """

    @abstractmethod
    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """Read the document at `path` and apply the writes that `decide` returns, in a transaction.

        The transaction is repeated if the document has changed, which may be due to its own commit
        if the response was lost.

        Raises:
            ChangedMeanwhileError: The document changed during every attempt.
            Exception: The error of `decide`, in which case no write was applied. Or a call failed,
                and the writes may have been applied.
        """

    def grouped(self) -> "Documents":
        """Return an adapter that combines the reads and writes of many threads."""
        return self

    def find(self, query: Query) -> Sequence[Document]:
        """Return the documents of a query."""
        return list(self.stream(query))

    def find_all(self, query: Query) -> Iterator[Document]:
        """Yield all documents of a query, with one call for every `query.limit` documents."""
        size = query.limit or _PAGE
        page = replace(query, limit=size)
        while True:
            found = self.find(page)
            yield from found
            if len(found) < size:
                return
            page = page.behind(found[-1].path, found[-1].fields)
