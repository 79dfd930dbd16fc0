"""Firestore in memory: what it stores, and the `Documents` that reach it.

tests/suite/store/test_documents.py puts the same cases to this and to the emulator of Firestore.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from functions.documents.document import Document, Version, Written
from functions.documents.documents import CALL_SECONDS, TRANSACTIONS, Documents
from functions.documents.query import NAME, Query
from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.documents.write import Create, Delete, Merge, Put, Update, Write, may_repeat
from tests.in_memory.through import Through, at_once

COMMIT_BYTES: Final = 10 * 2**20
DOCUMENT_BYTES: Final = 2**20
INDEXED_BYTES: Final = 1500
WRITES_OF_A_BATCH: Final = 500
VALUES_OF_IN: Final = 30

_NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MISSING: Final = object()
_RANKS: Final = (bool, int | float, datetime, str, bytes, list, dict)
"""Types in the order in which Firestore sorts their values, after None."""

_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "in": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Watch: TypeAlias = Callable[[str, Document | None, Document | None], object]


class RefusedError(Exception):
    """The request breaks a limit of Firestore's; nothing was written."""


class _WrittenMeanwhileError(Exception):
    """Another commit came before that of a transaction."""


class Firestore:
    """All documents of a project; every method happens at one moment."""

    def __init__(self, now: Callable[[], datetime] = lambda: _NOON) -> None:
        """`now` is the time of the service; two commits never have the same."""
        self._now = now
        self._last: Version = 0
        self._collections: dict[str, dict[str, Document]] = {}
        self._watches: list[Watch] = []

    def set_clock(self, now: Callable[[], datetime]) -> None:
        """Take the time from elsewhere from now on."""
        self._now = now

    def watch(self, see: Watch) -> None:
        """Have `see` told of every write: its path, and the document before and after."""
        self._watches.append(see)

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
            if not 0 < len(values) <= VALUES_OF_IN or any(map(_is_too_long, values)):
                raise RefusedError(f"a query by {len(values)} values, or by too long a text")
        found = [
            (_place(query, document.fields, document.path), document)
            for path, documents in self._collections.items()
            if _is_of(query, path)
            for document in documents.values()
            if all(_holds(document, *condition) for condition in query.where)
            and all(_at(document.fields, _plain(name)) is not _MISSING for name in query.order)
        ]
        if query.after:
            *values, path = query.after
            fields = dict(zip(map(_plain, query.order), values, strict=True))
            after = _place(query, fields, path)
            found = [record for record in found if record[0] > after]
        found.sort(key=lambda one: one[0])
        return [document for _, document in found[: query.limit]]

    def commit(self, *writes: Write) -> Sequence[Written]:
        """Make all of the writes, or none."""
        sizes = [_size(getattr(write, "fields", {})) for write in writes]
        if sum(sizes) > COMMIT_BYTES or max(sizes, default=0) > DOCUMENT_BYTES:
            raise RefusedError(f"writes of {sizes} bytes")
        at = max((self._now() - _EPOCH) // timedelta(microseconds=1) * 1000, self._last + 1000)
        after: dict[str, Document | None] = {}
        written = []
        for write in writes:
            before = after[write.path] if write.path in after else self.get(write.path)
            _check(write, before)
            document, sums = _applied(write, before, at)
            after[write.path] = document
            written.append(Written(document.version if document else at, sums))
        self._last = at
        for path, document in after.items():
            self._store(path, document)
        return written

    def _store(self, path: str, after: Document | None) -> None:
        collection, _, name = path.rpartition("/")
        documents = self._collections.setdefault(collection, {})
        before = documents.pop(name, None)
        if after:
            documents[name] = after
        for see in self._watches:
            see(path, before, after)


class InMemoryDocuments(Documents):
    """See `Documents`; each call of Firestore is one `through`, which may let it fail."""

    def __init__(self, firestore: Firestore | None = None, through: Through = at_once) -> None:
        """Reach `firestore`, or a fresh one."""
        self.firestore = firestore or Firestore()
        self._through = through

    def get(
        self,
        path: str,
        fields: Sequence[str] = (),
        *,
        seconds: float = CALL_SECONDS,  # noqa: ARG002 - answers at once
    ) -> Document | None:
        """See `Documents`."""
        return self._through(_name("get", path), lambda: _masked(self.firestore.get(path), fields))

    def get_all(
        self,
        paths: Sequence[str],
        seconds: float = CALL_SECONDS,  # noqa: ARG002 - answers at once
        *,
        fields: Sequence[str] = (),
    ) -> Sequence[Document | None]:
        """See `Documents`."""
        if not paths:
            return []
        return self._through(
            _name("get", paths[-1]),
            lambda: [_masked(self.firestore.get(path), fields) for path in paths],
        )

    def stream(self, query: Query) -> Iterator[Document]:
        """See `Documents`; all documents come at once."""
        asked = [*query.select, *map(_plain, query.order)] if query.select else []
        for found in self._through(
            _name("find", f"{query.collection}/"), lambda: self.firestore.query(query)
        ):
            yield replace(found, fields=_some(found.fields, asked)) if asked else found

    def count(self, query: Query) -> int:
        """See `Documents`."""
        return self._through(
            _name("count", f"{query.collection}/"), lambda: len(self.firestore.query(query))
        )

    def commit(
        self,
        *writes: Write,
        seconds: float = CALL_SECONDS,  # noqa: ARG002 - answers at once
    ) -> Sequence[Written]:
        """See `Documents`."""
        return self._through(
            _name(type(writes[0]).__name__.lower(), writes[0].path),
            lambda: self.firestore.commit(*writes),
            retried=may_repeat(writes),
        )

    def write_each(
        self,
        writes: Sequence[Write],
        seconds: float = CALL_SECONDS,  # noqa: ARG002 - answers at once
    ) -> Sequence[Written | Exception]:
        """See `Documents`."""

        def each() -> Sequence[Written | Exception]:
            if len(writes) > WRITES_OF_A_BATCH:
                raise RefusedError(f"{len(writes)} writes")
            results: dict[str, Written] = {}
            return [self._alone(write, results) for write in writes]

        return self._through(_name("write each", writes[0].path), each)

    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """See `Documents`; others may write between its two calls."""
        for _ in range(TRANSACTIONS):
            found = self._through(_name("begin", path), lambda: self.firestore.get(path))
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

        return self._through(_name("end", path), end)

    def _alone(self, write: Write, results: dict[str, Written]) -> Written | Exception:
        if write.path in results:
            return RefusedError("written twice")
        try:
            [results[write.path]] = self.firestore.commit(write)
        except (ChangedMeanwhileError, RefusedError) as error:
            return error
        return results[write.path]


def _name(what: str, path: str) -> str:
    """Name of a call: what it does with which collection, as in `get deliveries`."""
    return (
        f"{what} {path.rstrip('/').split('/')[-1] if path.endswith('/') else path.split('/')[-2]}"
    )


def _check(write: Write, before: Document | None) -> None:
    version = getattr(write, "version", None)
    if isinstance(write, Create):
        if before:
            raise AlreadyRecordedError(write.path)
    elif (isinstance(write, Update) and before is None) or (
        version is not None and (before is None or before.version != version)
    ):
        raise ChangedMeanwhileError(write.path)


def _applied(
    write: Write, before: Document | None, at: Version
) -> tuple[Document | None, Sequence[int]]:
    """The document after a write, and the sums of `add`."""
    sums: list[int] = []
    match write:
        case Delete():
            return None, sums
        case Create(fields=fields) | Put(fields=fields):
            after = {name: _value(value) for name, value in fields.items()}
        case Merge():
            after = dict(before.fields) if before else {}
            for name, value in write.fields.items():
                outer, *inner = (name,) if isinstance(name, str) else name
                _set(after, [outer, *inner], _value(value))
            for deleted in write.delete:
                if _at(after, deleted) is not _MISSING:
                    _set(after, deleted.split("."), _MISSING)
            for counted, number in write.add.items():
                there = after.get(counted)
                after[counted] = number + (there if isinstance(there, int) else 0)
                sums.append(after[counted])
    if before and _key(before.fields) == _key(after):
        return before, sums  # a write that changes nothing makes no version
    created = before.created if before else _EPOCH + timedelta(microseconds=at // 1000)
    return Document(write.path, after, at, created), sums


def _set(fields: dict[str, Any], names: Sequence[str], value: Any) -> None:
    """Write a value, inside maps which are copied; `_MISSING` deletes it."""
    first, *inner = names
    if inner:
        there = fields.get(first)
        fields[first] = dict(there) if isinstance(there, Mapping) else {}
        _set(fields[first], inner, value)
    elif value is _MISSING:
        del fields[first]
    else:
        fields[first] = value


def _value(value: Any) -> Any:
    """A value as Firestore stores it."""
    match value:
        case None | bool() | int() | float() | bytes():
            return value
        case str():
            return value.encode().decode()
        case datetime():
            return value.astimezone(UTC)
        case Mapping():
            return {name: _value(inner) for name, inner in value.items()}
        case Sequence():
            return [_value(inner) for inner in value]
    raise TypeError(type(value).__name__)


def _size(value: Any) -> int:
    """Bytes of a value, more or less."""
    match value:
        case str():
            return len(value.encode()) + 1
        case bytes():
            return len(value)
        case Mapping():
            return sum(len(str(name)) + 1 + _size(inner) for name, inner in value.items())
        case Sequence():
            return sum(map(_size, value))
    return 8


def _at(fields: Mapping[str, Any], name: str) -> Any:
    """The value at `name`, which may lead into maps."""
    outer, _, inner = name.partition(".")
    found = fields.get(outer, _MISSING)
    if inner:
        return _at(found, inner) if isinstance(found, Mapping) else _MISSING
    return found


def _some(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    some: dict[str, Any] = {}
    for name in names:
        if (value := _at(fields, name)) is not _MISSING:
            _set(some, name.split("."), value)
    return some


def _masked(found: Document | None, names: Sequence[str]) -> Document | None:
    return replace(found, fields=_some(found.fields, names)) if found and names else found


def _is_of(query: Query, path: str) -> bool:
    """Whether the query asks the collection at `path`."""
    if not query.group:
        return path == query.collection
    above, _, name = query.collection.rpartition("/")
    return f"{path}/".startswith(f"{above}/" if above else "") and (
        not name or path.rpartition("/")[2] == name
    )


def _holds(document: Document, name: str, compare: str, wanted: Any) -> bool:
    """Whether a document meets a condition; by None, no document does."""
    found = _key(_at(document.fields, name))
    values = wanted if compare == "in" else [wanted]
    return any(
        found[0] == key[0] > 0 and _COMPARED[compare](found[1], key[1]) for key in map(_key, values)
    )


def _is_reserved(name: str) -> bool:
    return name in ("", ".", "..") or (name.startswith("__") and name.endswith("__"))


def _is_too_long(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode()) >= INDEXED_BYTES


def _key(value: Any) -> tuple[int, Any]:
    """The place of a value among all values, as the indexes have it."""
    for rank, types in enumerate(_RANKS, 1):
        if isinstance(value, types):
            match value:
                case str():
                    return rank, value.encode()[:INDEXED_BYTES]
                case list():
                    return rank, [_key(inner) for inner in value]
                case dict():
                    return rank, [(name, _key(value[name])) for name in sorted(value)]
            return rank, value
    return (0, 0) if value is None else (-1, 0)


@dataclass(frozen=True, slots=True)
class _Descending:
    key: Any

    def __lt__(self, other: "_Descending") -> bool:
        return bool(other.key < self.key)


def _place(query: Query, fields: Mapping[str, Any], path: str) -> tuple[Any, ...]:
    """The place of a document in the order of a query."""
    keys: list[tuple[str, Any]]
    keys = [(name, _key(_at(fields, _plain(name)))) for name in query.order]
    keys.append((query.order[-1] if query.order else NAME, path.split("/")))
    return tuple(_Descending(key) if name.startswith("-") else key for name, key in keys)


def _plain(name: str) -> str:
    return name.removeprefix("-")
