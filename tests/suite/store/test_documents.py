"""`Documents` behaves the same in Firestore and in memory.

Unit tests and the simulation depend on this.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, Final

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from functions.firestore.client import FirestoreDocuments
from functions.firestore.client import documents as documents_of_this_process
from functions.firestore.model import (
    NAME,
    AlreadyRecordedError,
    ChangedMeanwhileError,
    Create,
    Delete,
    Document,
    Documents,
    Merge,
    Put,
    Query,
    Update,
    Write,
    Written,
    may_repeat,
)
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.suite.operations import Operations, counting_documents

AT = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
EVERYTHING = {
    "null": None,
    "yes": True,
    "no": False,
    "zero": 0,
    "large": 2**53 + 1,
    "negative": -7,
    "half": 0.5,
    "text": "Grüße 🎉",
    "empty": "",
    "bytes": b"\x00\xff",
    "at": AT,
    "list": [1, "two", None, {"three": [AT]}],
    "no list": [],
    "map": {"a.b": {"c": True}, "ä": "quoted"},
    "no map": {},
}


IN_FIRESTORE: Final = pytest.mark.parametrize("documents", ["in Firestore"], indirect=True)
"""For tests of a client that gets Firestore's answers."""


class Kind(StrEnum):
    """A field of `parts`."""

    EVEN = "even"
    ODD = "odd"


@pytest.fixture(params=["in Firestore", "in groups", "in memory"])
def documents(request: pytest.FixtureRequest) -> Documents:
    """Return the documents under test."""
    match request.param:
        case "in memory":
            return InMemoryDocuments(Firestore(lambda: datetime.now(UTC)))
        case "in groups":
            return documents_of_this_process().grouped()
    return documents_of_this_process()


def fields(documents: Documents, path: str) -> Any:
    """Return the fields of a document, or None if it does not exist."""
    found = documents.get(path)
    return found and found.fields


@pytest.fixture
def path() -> Callable[[], str]:
    """Return a function that creates paths of missing documents."""
    return lambda: f"things/{uuid.uuid4().hex}"


@IN_FIRESTORE
def test_every_value_is_encoded_like_the_library(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """The client library reads what the codec writes, and the codec what the library writes."""
    ours, theirs = path(), path()
    documents.commit(Create(ours, EVERYTHING))
    assert db.document(ours).get().to_dict() == EVERYTHING
    db.document(theirs).set(EVERYTHING)
    found = documents.get(theirs)
    assert found
    assert found.fields == EVERYTHING
    assert type(found.fields["yes"]) is bool


@pytest.mark.parametrize("value", [object(), {1, 2}, {"a": object()}])
def test_an_unsupported_value_is_rejected(
    documents: Documents, path: Callable[[], str], value: object
) -> None:
    """The error names the type of the invalid value, and nothing is written."""
    with pytest.raises(TypeError):
        documents.commit(Create(path(), {"field": value}))


def test_every_value_is_read_unchanged(documents: Documents, path: Callable[[], str]) -> None:
    """Enumerations are read as texts, and times in UTC."""
    one = path()
    local = AT.astimezone(timezone(timedelta(hours=2)))
    documents.commit(Put(one, EVERYTHING | {"enum": Kind.EVEN, "local": local, "tuple": (1,)}))
    assert fields(documents, one) == EVERYTHING | {"enum": "even", "local": AT, "tuple": [1]}
    assert type(fields(documents, one)["enum"]) is str


def test_a_read_of_some_fields(documents: Documents, path: Callable[[], str]) -> None:
    """A read of some fields leaves the others out."""
    one = path()
    documents.commit(Put(one, {"a": 1, "b": {"c": 2, "d": 3}, "e": 4}))
    found = documents.get(one, ["a", "b", "nowhere"])
    assert found
    assert found.fields == {"a": 1, "b": {"c": 2, "d": 3}}
    assert documents.get(path(), ["a"]) is None


def test_a_read_of_many_documents(documents: Documents, path: Callable[[], str]) -> None:
    """Documents come in the order of their paths, also repeated and missing documents."""
    paths = [path() for _ in range(3)]
    for number, one in enumerate(paths):
        documents.commit(Put(one, {"number": number}))
    asked = [paths[2], path(), paths[0], paths[2], paths[1]]
    found = documents.get_all(asked)
    assert [document and document.fields["number"] for document in found] == [2, None, 0, 2, 1]
    [first] = documents.get_all(paths[:1])
    assert first is not None
    assert (first.path, first.id, first.fields) == (paths[0], paths[0][7:], {"number": 0})
    selected = documents.get_all(paths[:2], fields=["gone"])
    assert [document and document.fields for document in selected] == [{}, {}]


@pytest.fixture
def parts(documents: Documents, path: Callable[[], str]) -> str:
    """Create a collection of six documents. The fourth has a subcollection."""
    parent = path()
    documents.commit(
        *(
            Put(
                f"{parent}/parts/{name}",
                {"kind": list(Kind)[number % 2], "number": number // 2, "more": "text"},
            )
            for number, name in enumerate("abcdef")
        ),
        Put(f"{parent}/parts/d/parts/g", {"kind": "even", "number": 9}),
        Put(f"{parent}/parts/missing/others/h", {}),
    )
    return f"{parent}/parts"


EVEN: Final = ("kind", "==", "even")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "abcdef"),
        ({"limit": 2}, "ab"),
        ({"where": [EVEN]}, "ace"),
        ({"where": [("kind", "in", ["odd", "else"])], "limit": 2}, "bd"),
        ({"where": [EVEN, ("number", ">", 0)], "order": ["number"]}, "ce"),
        ({"where": [EVEN, ("number", "<=", 1)], "order": ["-number"]}, "ca"),
        ({"where": [("number", ">=", 1), ("number", "<", 2)], "order": ["number"]}, "cd"),
        ({"order": ["-number"], "limit": 3}, "fed"),
        ({"order": ["number"], "after": [1, "c"]}, "def"),
        ({"order": ["-number"], "after": [1, "c"]}, "ba"),
        ({"after": ["d"]}, "ef"),
        ({"where": [("kind", "==", "none")]}, ""),
    ],
)
def test_a_query(documents: Documents, parts: str, query: dict[str, Any], expected: str) -> None:
    """Documents are found, walked through in pages, and counted alike."""
    if "after" in query:
        *values, name = query["after"]
        query = query | {"after": [*values, f"{parts}/{name}"]}
    asked = Query(**{"collection": parts} | query)
    assert "".join(found.id for found in documents.find(asked)) == expected
    assert documents.count(asked) == len(expected)
    if "limit" not in query:
        pages = documents.find_all(replace(asked, limit=2))
        assert "".join(sorted(found.id for found in pages)) == "".join(sorted(expected))


def test_a_collection_group_query(documents: Documents, parts: str) -> None:
    """A group has all collections of one id, in the order of their paths."""
    group = f"group-{uuid.uuid4().hex}"
    for name in ("a", "b"):
        documents.commit(Put(f"{parts}/{name}/{group}/g", {"kind": "even"}))
    found = documents.find(Query(collection=group, group=True, where=[EVEN]))
    assert [document.path for document in found] == [f"{parts}/{name}/{group}/g" for name in "ab"]


def test_a_query_of_all_descendants(documents: Documents, parts: str) -> None:
    """Documents are found at any depth, also below a missing document."""
    parent = parts.removesuffix("parts")
    found = documents.find(Query(collection=parent, group=True, select=[NAME]))
    assert [document.path.removeprefix(parent) for document in found] == [
        *(f"parts/{name}" for name in "abcd"),
        "parts/d/parts/g",
        *(f"parts/{name}" for name in "ef"),
        "parts/missing/others/h",
    ]


def test_a_query_of_selected_fields(documents: Documents, parts: str) -> None:
    """A selection has the fields of the order as well, and the times of the document."""
    query = Query(collection=parts, order=["number"], select=["kind", "gone"], limit=1)
    [found] = documents.find(query)
    assert found.fields == {"kind": "even", "number": 0}
    there = documents.get(f"{parts}/a")
    assert there is not None
    assert (found.path, found.version, found.created) == (there.path, there.version, there.created)
    assert found.written == found.created


class Breaking:
    """A client whose queries break after two documents."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.limits: list[int] = []

    def run_query(self, request: Any, **given: Any) -> Iterator[Any]:
        """Return two documents, and raise an error if there are more."""
        self.limits.append(request.structured_query.limit)
        for read, answer in enumerate(self._client.run_query(request, **given)):
            if read == 2:
                raise exceptions.ServiceUnavailable("broken")  # type: ignore[no-untyped-call]
            yield answer


@pytest.mark.parametrize("order", [[], ["number"], ["-number"]])
@IN_FIRESTORE
def test_a_broken_stream_continues_after_the_last_document(
    db: firestore.Client, documents: FirestoreDocuments, parts: str, order: list[str]
) -> None:
    """No document is returned twice, and the limit holds."""
    query = Query(collection=parts, order=order, limit=5)
    whole = documents.find(query)
    client = Breaking(documents._client)  # noqa: SLF001 - the emulator's
    broken = FirestoreDocuments(client, db.project, documents._metadata)  # type: ignore[arg-type]  # noqa: SLF001
    assert broken.find(query) == whole
    assert client.limits == [5, 3, 1]


@IN_FIRESTORE
def test_a_stopped_caller_ends_the_stream(documents: Documents, parts: str) -> None:
    """A caller that takes one document reads one."""
    counted = Operations()
    first = next(counting_documents(counted).stream(Query(collection=parts)))
    assert (first.id, counted.reads) == ("a", 1)
    assert len(documents.find(Query(collection=parts))) == 6


def test_puts_and_merges(documents: Documents, path: Callable[[], str]) -> None:
    """A put replaces. A merge writes only its fields, also inside maps. Both create."""
    one, two = path(), path()
    documents.commit(Put(one, {"a": 1, "b": {"c": 2, "7 d": 3}, "e": 5}))
    documents.commit(Merge(one, {("b", "7 d"): 4, ("`f", "\\"): 6}, delete=["e", "gone"]))
    assert fields(documents, one) == {"a": 1, "b": {"c": 2, "7 d": 4}, "`f": {"\\": 6}}
    documents.commit(Merge(one), Merge(two, {"b": 1}))
    assert fields(documents, one) == {"a": 1, "b": {"c": 2, "7 d": 4}, "`f": {"\\": 6}}
    documents.commit(Put(one, {"e": 5}), Put(two, {}))
    assert [fields(documents, name) for name in (one, two)] == [{"e": 5}, {}]
    documents.commit(Merge(one, {("e", "f"): 1}), Merge(one, {"g": {"h": 1}}))
    assert fields(documents, one) == {"e": {"f": 1}, "g": {"h": 1}}


def test_sums(documents: Documents, path: Callable[[], str]) -> None:
    """A commit answers with the sums, and leaves the other fields."""
    one = path()
    documents.commit(Put(one, {"more": 1, "other": "text"}))
    count = Merge(one, {"at": AT}, add={"count": 2, "other": -1})
    assert [documents.commit(count)[0].sums for _ in range(2)] == [[2, -1], [4, -2]]
    documents.commit(Update(one, add={"count": 1}))
    assert fields(documents, one) == {"more": 1, "count": 5, "other": -2, "at": AT}


def test_a_commit_is_atomic(documents: Documents, path: Callable[[], str]) -> None:
    """A condition that fails keeps the other writes away, and names the reason."""
    there, new, gone = path(), path(), path()
    [first] = documents.commit(Create(there, {"a": 1}))
    [second] = documents.commit(Update(there, {"a": 2}, version=first.version))
    for refused, error in (
        (Create(there, {"a": 3}), AlreadyRecordedError),
        (Update(there, {"a": 3}, version=first.version), ChangedMeanwhileError),
        (Delete(there, first.version), ChangedMeanwhileError),
        (Update(gone, {"a": 3}), ChangedMeanwhileError),
        (Update(gone, {"a": 3}, version=first.version), ChangedMeanwhileError),
    ):
        with pytest.raises(error):
            documents.commit(Create(new, {"a": 3}), refused)
    assert documents.get_all([new, gone]) == [None, None]
    found = documents.get(there)
    assert found is not None
    assert (found.fields, found.version) == ({"a": 2}, second.version)
    documents.commit(Delete(there, second.version), Delete(gone))
    assert documents.get(there) is None


@pytest.mark.parametrize(
    ("writes", "repeated"),
    [
        ([Merge("a/b", {"c": 1}), Put("a/c", {}), Delete("a/d")], True),
        ([Merge("a/b", add={"c": 1})], False),
        ([Update("a/b", add={"c": 1}), Put("a/c", {})], False),
        ([Update("a/b", add={"c": 1}), Create("a/c", {})], True),
        ([Merge("a/b", add={"c": 1}), Update("a/c", {}, version=1)], True),
        ([Merge("a/b", add={"c": 1}), Delete("a/c", 1)], True),
    ],
)
def test_only_an_idempotent_commit_is_retried(writes: list[Write], *, repeated: bool) -> None:
    """A condition that the first commit ends lets no second commit add."""
    assert may_repeat(writes) is repeated


@IN_FIRESTORE
def test_a_transaction_sees_what_it_writes_over(
    documents: Documents, path: Callable[[], str]
) -> None:
    """Where the document is written meanwhile, everything is done again."""
    one, seen = path(), list[Any]()

    def writes(found: Document | None) -> Sequence[Write]:
        seen.append(found and found.fields)
        return [Put(one, {"count": (found.fields["count"] if found else 0) + 1})]

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: documents.transact(one, writes), range(2)))
    assert fields(documents, one) == {"count": 2}
    assert seen[0] is None
    assert seen[-1] == {"count": 1}


def test_a_transaction_reads_then_writes(documents: Documents, path: Callable[[], str]) -> None:
    """A transaction reads a missing or an existing document. A failed condition raises an error."""
    one, seen = path(), list[Any]()

    def writes(found: Document | None) -> Sequence[Write]:
        seen.append(found and found.fields)
        return [Put(one, {"n": len(seen)})]

    documents.transact(one, writes)
    [written] = documents.transact(one, writes)
    assert seen == [None, {"n": 1}]
    found = documents.get(one)
    assert found is not None
    assert (found.fields, found.version) == ({"n": 2}, written.version)
    with pytest.raises(AlreadyRecordedError):
        documents.transact(one, lambda _: [Create(one, {})])


@IN_FIRESTORE
def test_a_rejected_transaction_releases_its_locks(
    documents: Documents, path: Callable[[], str]
) -> None:
    """The transaction raises the error of the decision, and the next writer does not wait."""
    one = path()
    documents.commit(Put(one, {"n": 0}))

    def refuse(_: Document | None) -> Sequence[Write]:
        raise LookupError

    counted = Operations()
    with pytest.raises(LookupError):
        counting_documents(counted).transact(one, refuse)
    assert counted.calls == {"BeginTransaction": 1, "GetDocument": 1, "Rollback": 1}
    documents.commit(Put(one, {"n": 1}))


def test_batch_writes_are_independent(documents: Documents, path: Callable[[], str]) -> None:
    """A document that was changed, deleted or repeated in the group does not affect the others."""
    good, changed, gone, deleted = paths = path(), path(), path(), path()
    made = documents.commit(*(Put(path, {"n": 0, "cleared": 0, "left": 0}) for path in paths))
    versions = dict(zip(paths, (written.version for written in made), strict=True))
    documents.commit(Update(changed, {"n": 5}), Delete(gone))
    updates = [
        Update(delivery, {"n": 9}, delete=["cleared"], version=versions[delivery])
        for delivery in (changed, gone, good, good)
    ]
    results = documents.write_each([*updates, Delete(deleted, versions[deleted])])
    assert list(map(type, results[:2])) == [ChangedMeanwhileError, ChangedMeanwhileError]
    assert isinstance(results[3], Exception)
    found = documents.get(good)
    assert found is not None
    assert isinstance(results[2], Written)
    assert (found.fields, found.version) == ({"n": 9, "left": 0}, results[2].version)
    assert isinstance(results[4], Written)
    assert [fields(documents, write) for write in (gone, deleted)] == [None, None]
    assert fields(documents, changed)["n"] == 5


def test_a_write_that_changes_nothing_makes_no_version(
    documents: Documents, path: Callable[[], str]
) -> None:
    """A write of the same values keeps the version, so that it conflicts with no other write."""
    one = path()
    [made] = documents.commit(Put(one, {"n": 1, "m": {"a": [True]}}))
    for write in (Put(one, {"m": {"a": [True]}, "n": 1}), Merge(one, {"n": 1}, delete=["gone"])):
        assert documents.commit(write)[0].version == made.version
    [changed] = documents.commit(Merge(one, {"m": {"a": [1]}}))
    assert changed.version > made.version


def test_one_commit_may_write_a_document_twice(
    documents: Documents, path: Callable[[], str]
) -> None:
    """The later write finds what the earlier one has made."""
    one, two = path(), path()
    documents.commit(Create(one, {"n": 1}), Update(one, {"m": 2}), Put(two, {}), Delete(two))
    assert (fields(documents, one), fields(documents, two)) == ({"n": 1, "m": 2}, None)


MIXED: Final[list[Any]] = [1, "1", None, 1.5, True, b"1", [1], {"b": 1}, AT]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"order": ["a"]}, [None, True, 1, 1.5, AT, "1", b"1", [1], {"b": 1}]),
        ({"where": [("a", "==", 1)]}, [1]),
        ({"where": [("a", "==", True)]}, [True]),
        ({"where": [("a", "==", None)]}, []),
        ({"where": [("a", ">=", 1)], "order": ["a"]}, [1, 1.5]),
        ({"where": [("a", ">", "")], "order": ["-a"]}, ["1"]),
        ({"order": ["nowhere"]}, []),
    ],
)
def test_values_of_other_types(
    documents: Documents, path: Callable[[], str], query: dict[str, Any], expected: list[Any]
) -> None:
    """A comparison finds values of one type. An order has all types, but no missing fields."""
    above = path()
    documents.commit(*(Put(f"{above}/v/{n}", {"a": value}) for n, value in enumerate(MIXED)))
    found = documents.find(Query(collection=f"{above}/v", **query))
    assert [(type(record.fields["a"]), record.fields["a"]) for record in found] == [
        (type(value), value) for value in expected
    ]


TEXT: Final = "x" * 1500


@pytest.mark.parametrize(
    "where",
    [
        ("a", "==", TEXT),
        ("a", "in", [TEXT]),
        ("a", "<", TEXT),
        ("a", "in", []),
        ("a", "in", list(range(31))),
    ],
)
def test_an_invalid_query_is_rejected(
    documents: Documents, path: Callable[[], str], where: Any
) -> None:
    """A query by a text of 1,500 bytes, by no value or by 31 values is refused."""
    above = f"{path()}/v"
    documents.commit(Put(f"{above}/a", {"a": TEXT}))
    query = Query(collection=above, where=[where], order=["a"] if where[1] == "<" else [])
    for ask in (documents.find, documents.count):
        with pytest.raises(Exception, match=r"\w") as refused:
            ask(query)
        assert not isinstance(refused.value, ChangedMeanwhileError)
    assert documents.find(Query(collection=above, where=[("a", "==", TEXT[1:])])) == []


@pytest.mark.parametrize("name", ["__x__", ".", "..", "", "a/b"])
def test_an_invalid_path_is_rejected(
    documents: Documents, path: Callable[[], str], name: str
) -> None:
    """A reserved name and the path of a collection are refused."""
    with pytest.raises(Exception, match=r"\w") as refused:
        documents.get(f"{path()}/v/{name}")
    assert not isinstance(refused.value, ChangedMeanwhileError)


@pytest.mark.parametrize("writes", [[b"x" * 2**20], [b"x" * 1_000_000] * 11])
def test_a_large_commit_is_rejected(
    documents: Documents, path: Callable[[], str], writes: list[bytes]
) -> None:
    """A document of more than 1 MiB or a commit of more than 10 MiB writes nothing."""
    paths = [path() for _ in writes]
    with pytest.raises(Exception, match=r"\w") as refused:
        documents.commit(
            *(Put(path, {"a": text}) for path, text in zip(paths, writes, strict=True)), seconds=1
        )
    assert not isinstance(refused.value, ChangedMeanwhileError)
    assert not any(documents.get_all(paths))
