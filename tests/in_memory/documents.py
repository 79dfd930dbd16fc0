"""Firestore in memory: its storage, and an adapter of the port `Documents`.

tests/suite/store/test_documents.py runs the same cases here and on Google's Firestore emulator.
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
"""Receives the path of a write, and the document before and after it."""


class RefusedError(Exception):
    """The request exceeds a limit of Firestore. Nothing was written."""


class _WrittenMeanwhileError(Exception):
    """Another commit changed the document during a transaction."""


@dataclass(eq=False, repr=False)
class Firestore:
    """All documents of a project. Every method is atomic."""

    now: Callable[[], datetime] = lambda: _NOON
    """The time of the service. Two commits never have the same time."""
    watches: list[Watch] = field(default_factory=list)
    """Called after every write."""
    _last: Version = 0
    _collections: dict[str, dict[str, Document]] = field(default_factory=dict)

    def get(self, path: str) -> Document | None:
        """Return the document at `path`."""
        names = path.split("/")
        if len(names) % 2 or any(map(_is_reserved, names)):
            raise RefusedError(f"not a document path: {path}")
        collection, _, name = path.rpartition("/")
        return self._collections.get(collection, {}).get(name)

    def query(self, query: Query) -> Sequence[Document]:
        """Return the documents that match, with all fields."""
        for _, compare, value in query.where:
            values = value if compare == "in" else [value]
            if not 0 < len(values) <= _VALUES_OF_IN or any(map(_is_too_long, values)):
                raise RefusedError(
                    f"a query by {len(values)} values, or by a text that is too long"
                )
        ordered = [name.removeprefix("-") for name in query.order]
        conditions = [_condition(*condition) for condition in query.where]
        found = [
            document
            for path, documents in self._collections.items()
            if _is_of(query, path)
            for document in documents.values()
            if all(meets(document) for meets in conditions)
            and all(name in document.fields for name in ordered)
        ]
        if query.after:
            *values, path = query.after
            place = Document(path, dict(zip(ordered, values, strict=True)), 0, _EPOCH)
            found = _sorted([*found, place], query.order)
            found = found[found.index(place) + 1 :]
        return _sorted(found, query.order)[: query.limit]

    def commit(self, *writes: Write) -> Sequence[Written]:
        """Apply all of the writes, or none."""
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
    """A `Documents` that passes each call of Firestore to `through`, which may let it fail."""

    firestore: Firestore = field(default_factory=Firestore)
    through: Through = at_once

    def get(self, path: str, fields: Sequence[str] = (), **_: float) -> Document | None:
        """Return the document at `path`."""
        return self.get_all([path], fields=fields)[0]

    def get_all(
        self, paths: Sequence[str], fields: Sequence[str] = (), **_: float
    ) -> Sequence[Document | None]:
        """Return the documents at `paths`, None for each that does not exist."""

        def found() -> Sequence[Document | None]:
            documents = map(self.firestore.get, paths)
            return [document and _masked(document, fields) for document in documents]

        return self._call("get", paths[-1], found) if paths else []

    def stream(self, query: Query) -> Iterator[Document]:
        """Yield the documents that match. One call reads all of them."""
        ordered = [name.removeprefix("-") for name in query.order]
        asked = [*query.select, *ordered] if query.select else []
        for found in self._call("find", _of(query), lambda: self.firestore.query(query)):
            yield _masked(found, asked) or found

    def count(self, query: Query) -> int:
        """Return the number of documents that match."""
        return self._call("count", _of(query), lambda: len(self.firestore.query(query)))

    def commit(self, *writes: Write, **_: float) -> Sequence[Written]:
        """Apply all of the writes, or none."""
        return self._call(
            type(writes[0]).__name__.lower(),
            writes[0].path,
            lambda: self.firestore.commit(*writes),
            retried=may_repeat(writes),
        )

    def write_each(self, writes: Sequence[Write], **_: float) -> Sequence[Written | Exception]:
        """Apply each write on its own, and return its result or its error."""

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
        """Write what `decide` returns. Others may write between the two calls of Firestore."""
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
        """Call Firestore under a name such as `get deliveries`."""
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
    """Return the document after a write of `fields`, and the sums of `add`."""
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
        return before, sums  # Firestore keeps the version if a write changes nothing
    created = before.created if before else _EPOCH + timedelta(microseconds=at // 1000)
    return Document(write.path, after, at, created), sums


def _masked(found: Document | None, names: Sequence[str]) -> Document | None:
    if found is None or not names:
        return found
    return replace(
        found, fields={name: found.fields[name] for name in names if name in found.fields}
    )


def _is_of(query: Query, path: str) -> bool:
    """Return whether the query covers the collection at `path`."""
    if not query.group:
        return path == query.collection
    above, _, name = query.collection.rpartition("/")
    is_below = not above or path.startswith(f"{above}/")
    return is_below and name in ("", path.rpartition("/")[2])


def _condition(name: str, compare: str, wanted: Any) -> Callable[[Document], bool]:
    """Return a function that tests a document. No document matches None."""
    keys = [_key(value) for value in (wanted if compare == "in" else [wanted])]

    def meets(document: Document) -> bool:
        if name not in document.fields:
            return False
        rank, value = _key(document.fields[name])
        return any(rank == key[0] > 0 and _COMPARED[compare](value, key[1]) for key in keys)

    return meets


def _is_reserved(name: str) -> bool:
    return name in ("", ".", "..") or (name.startswith("__") and name.endswith("__"))


def _is_too_long(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode()) >= _INDEXED_BYTES


def _key(value: Any) -> tuple[int, Any]:  # noqa: PLR0911 - a case for each type
    """Return a key that sorts values as Firestore's indexes do."""
    match value:
        case None:
            return 0, 0
        case str():
            return 4, value.encode()[:_INDEXED_BYTES]
        case bool():
            return 1, value
        case int() | float():
            return 2, value
        case datetime():
            return 3, value
        case bytes():
            return 5, value
        case list():
            return 6, [_key(inner) for inner in value]
        case dict():
            return 7, [(name, _key(value[name])) for name in sorted(value)]
    return 0, value


def _sorted(documents: Iterable[Document], order: Sequence[str]) -> list[Document]:
    """Sort documents in the order of a query: by its fields, then by path."""
    descending = bool(order) and order[-1].startswith("-")
    found = sorted(documents, key=lambda document: document.path.split("/"), reverse=descending)
    for name in reversed(order):
        found.sort(key=_by(name.removeprefix("-")), reverse=name.startswith("-"))
    return found


def _by(name: str) -> Callable[[Document], tuple[int, Any]]:
    return lambda document: _key(document.fields[name])
