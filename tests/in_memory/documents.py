"""Firestore in memory: what it stores, and the `Documents` that reach it.

tests/suite/store/test_documents.py puts the same cases to this and to the emulator of Firestore.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias, TypeVar

from google.cloud.firestore_v1 import types

from functions.firestore.codec import decoded, encode_write
from functions.firestore.model import (
    TRANSACTIONS,
    AlreadyRecordedError,
    ChangedMeanwhileError,
    Create,
    Delete,
    Document,
    Documents,
    Merge,
    Query,
    Update,
    Version,
    Write,
    Written,
    may_repeat,
)
from tests.in_memory.through import Through, at_once

_COMMIT_BYTES: Final = 10 * 2**20
_DOCUMENT_BYTES: Final = 2**20
_INDEXED_BYTES: Final = 1500
_WRITES_OF_A_BATCH: Final = 500
_VALUES_OF_IN: Final = 30

_NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: Final = (bool, int | float, datetime, str, bytes, list, dict)
"""Types in the order in which Firestore sorts their values, after None."""

_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "in": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

T = TypeVar("T")

Watch: TypeAlias = Callable[[str, Document | None, Document | None], object]
"""Gets the path of a write, and the document before and after it."""


class RefusedError(Exception):
    """The request breaks a limit of Firestore's; nothing was written."""


class _WrittenMeanwhileError(Exception):
    """Another commit came before that of a transaction."""


@dataclass(eq=False, repr=False)
class Firestore:
    """All documents of a project; every method happens at one moment."""

    now: Callable[[], datetime] = lambda: _NOON
    """The time of the service; two commits never have the same."""
    watches: list[Watch] = field(default_factory=list)
    """Called with every write."""
    _last: Version = 0
    _collections: dict[str, dict[str, Document]] = field(default_factory=dict)

    def get(self, path: str) -> Document | None:
        """The document at `path`."""
        names = path.split("/")
        if len(names) % 2 or any(map(_is_reserved, names)):
            raise RefusedError(f"no path of a document: {path}")
        collection, _, name = path.rpartition("/")
        return self._collections.get(collection, {}).get(name)

    def query(self, query: Query) -> Sequence[Document]:
        """The documents of a query, whole."""
        for _, compare, value in query.where:
            values = value if compare == "in" else [value]
            if not 0 < len(values) <= _VALUES_OF_IN or any(map(_is_too_long, values)):
                raise RefusedError(f"a query by {len(values)} values, or by too long a text")
        ordered = [name.removeprefix("-") for name in query.order]
        found = [
            document
            for path, documents in self._collections.items()
            if _is_of(query, path)
            for document in documents.values()
            if all(_holds(document, *condition) for condition in query.where)
            and all(name in document.fields for name in ordered)
        ]
        if query.after:
            *values, path = query.after
            place = Document(path, dict(zip(ordered, values, strict=True)), 0, _EPOCH)
            found = _sorted([*found, place], query.order)
            found = found[found.index(place) + 1 :]
        return _sorted(found, query.order)[: query.limit]

    def commit(self, *writes: Write) -> Sequence[Written]:
        """Make all of the writes, or none."""
        request = types.CommitRequest.pb(types.CommitRequest())
        for write in writes:
            encode_write(write, write.path, request.writes.add())
        largest = max((write.ByteSize() for write in request.writes), default=0)
        if request.ByteSize() > _COMMIT_BYTES or largest > _DOCUMENT_BYTES:
            raise RefusedError(f"a commit of {request.ByteSize()} bytes")
        at = max((self.now() - _EPOCH) // timedelta(microseconds=1) * 1000, self._last + 1000)
        after: dict[str, Document | None] = {}
        written = []
        for write, encoded in zip(writes, request.writes, strict=True):
            before = after[write.path] if write.path in after else self.get(write.path)
            _check(write, before)
            document, sums = _applied(write, decoded(encoded.update.fields), before, at)
            after[write.path] = document
            written.append(Written(document.version if document else at, sums))
        self._last = at
        for path, document in after.items():
            collection, _, name = path.rpartition("/")
            documents = self._collections.setdefault(collection, {})
            before = documents.pop(name, None)
            if document:
                documents[name] = document
            for watch in self.watches:
                watch(path, before, document)
        return written


@dataclass(eq=False, repr=False)
class InMemoryDocuments(Documents):
    """See `Documents`; each call of Firestore is one `through`, which may let it fail."""

    firestore: Firestore = field(default_factory=Firestore)
    through: Through = at_once

    def get(self, path: str, fields: Sequence[str] = (), **_: float) -> Document | None:
        """See `Documents`."""
        return self.get_all([path], fields=fields)[0]

    def get_all(
        self, paths: Sequence[str], fields: Sequence[str] = (), **_: float
    ) -> Sequence[Document | None]:
        """See `Documents`."""

        def found() -> Sequence[Document | None]:
            documents = map(self.firestore.get, paths)
            return [document and _masked(document, fields) for document in documents]

        return self._call("get", paths[-1], found) if paths else []

    def stream(self, query: Query) -> Iterator[Document]:
        """See `Documents`; all documents come at once."""
        ordered = [name.removeprefix("-") for name in query.order]
        asked = [*query.select, *ordered] if query.select else []
        for found in self._call("find", _of(query), lambda: self.firestore.query(query)):
            yield _masked(found, asked) or found

    def count(self, query: Query) -> int:
        """See `Documents`."""
        return self._call("count", _of(query), lambda: len(self.firestore.query(query)))

    def commit(self, *writes: Write, **_: float) -> Sequence[Written]:
        """See `Documents`."""
        return self._call(
            type(writes[0]).__name__.lower(),
            writes[0].path,
            lambda: self.firestore.commit(*writes),
            retried=may_repeat(writes),
        )

    def write_each(self, writes: Sequence[Write], **_: float) -> Sequence[Written | Exception]:
        """See `Documents`."""

        def each() -> Sequence[Written | Exception]:
            if len(writes) > _WRITES_OF_A_BATCH:
                raise RefusedError(f"{len(writes)} writes")
            first = {write.path: write for write in reversed(writes)}
            return [
                self._alone(write) if first[write.path] is write else RefusedError("written twice")
                for write in writes
            ]

        return self._call("write each", writes[0].path, each)

    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """See `Documents`; others may write between its two calls."""
        for _ in range(TRANSACTIONS):
            found = self._call("begin", path, lambda: self.firestore.get(path))
            try:
                return self._ended(path, found, decide(found))
            except _WrittenMeanwhileError:
                continue
        raise ChangedMeanwhileError

    def _ended(
        self, path: str, found: Document | None, writes: Sequence[Write]
    ) -> Sequence[Written]:
        def end() -> Sequence[Written]:
            if self.firestore.get(path) != found:
                raise _WrittenMeanwhileError
            return self.firestore.commit(*writes)

        return self._call("end", path, end)

    def _alone(self, write: Write) -> Written | Exception:
        try:
            return self.firestore.commit(write)[0]
        except (ChangedMeanwhileError, RefusedError) as error:
            return error

    def _call(self, what: str, path: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        """Call Firestore; the call's name is such as `get deliveries`."""
        return self.through(f"{what} {path.split('/')[-2]}", effect, retried=retried)


def _of(query: Query) -> str:
    return query.collection.removesuffix("/") + "/"


def _check(write: Write, before: Document | None) -> None:
    version = getattr(write, "version", None)
    if isinstance(write, Create) and before:
        raise AlreadyRecordedError(write.path)
    if (isinstance(write, Update) and not before) or (
        version and version != (before and before.version)
    ):
        raise ChangedMeanwhileError(write.path)


def _applied(
    write: Write, fields: Mapping[str, Any], before: Document | None, at: Version
) -> tuple[Document | None, Sequence[int]]:
    """The document after a write of `fields`, and the sums of `add`."""
    if isinstance(write, Delete):
        return None, []
    after = dict(before.fields) if before and isinstance(write, Merge) else {}
    sums = []
    if isinstance(write, Merge):
        for name in write.fields:
            if isinstance(name, str):
                after[name] = fields[name]
            else:
                outer, inner = name
                there = after.get(outer)
                kept = there if isinstance(there, dict) else {}
                after[outer] = kept | {inner: fields[outer][inner]}
        for name in write.delete:
            after.pop(name, None)
        for name, number in write.add.items():
            there = after.get(name)
            after[name] = number + (there if isinstance(there, int) else 0)
            sums.append(after[name])
    else:
        after = dict(fields)
    if before and _key(before.fields) == _key(after):
        return before, sums  # a write that changes nothing makes no version
    created = before.created if before else _EPOCH + timedelta(microseconds=at // 1000)
    return Document(write.path, after, at, created), sums


def _masked(found: Document | None, names: Sequence[str]) -> Document | None:
    if found is None or not names:
        return found
    return replace(
        found, fields={name: found.fields[name] for name in names if name in found.fields}
    )


def _is_of(query: Query, path: str) -> bool:
    """Whether the query asks the collection at `path`."""
    if not query.group:
        return path == query.collection
    above, _, name = query.collection.rpartition("/")
    is_below = not above or path.startswith(f"{above}/")
    return is_below and name in ("", path.rpartition("/")[2])


def _holds(document: Document, name: str, compare: str, wanted: Any) -> bool:
    """Whether a document meets a condition; by None, no document does."""
    if name not in document.fields:
        return False
    rank, value = _key(document.fields[name])
    keys = map(_key, wanted if compare == "in" else [wanted])
    return any(rank == key[0] > 0 and _COMPARED[compare](value, key[1]) for key in keys)


def _is_reserved(name: str) -> bool:
    return name in ("", ".", "..") or (name.startswith("__") and name.endswith("__"))


def _is_too_long(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode()) >= _INDEXED_BYTES


def _key(value: Any) -> tuple[int, Any]:
    """The place of a value among all values, as the indexes have it."""
    rank = next((rank for rank, kind in enumerate(_TYPES, 1) if isinstance(value, kind)), 0)
    match value:
        case None:
            return rank, 0
        case str():
            return rank, value.encode()[:_INDEXED_BYTES]
        case list():
            return rank, [_key(inner) for inner in value]
        case dict():
            return rank, [(name, _key(value[name])) for name in sorted(value)]
    return rank, value


def _sorted(documents: Iterable[Document], order: Sequence[str]) -> list[Document]:
    """Documents in the order of a query: by its fields, then by path."""
    descending = bool(order) and order[-1].startswith("-")
    found = sorted(documents, key=lambda document: document.path.split("/"), reverse=descending)
    for name in reversed(order):
        found.sort(key=_by(name.removeprefix("-")), reverse=name.startswith("-"))
    return found


def _by(name: str) -> Callable[[Document], tuple[int, Any]]:
    return lambda document: _key(document.fields[name])
