"""Documents, queries and commits, against what Firestore's library reads and writes."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.protobuf.timestamp_pb2 import Timestamp

from functions.gcp.documents import Document, Documents
from functions.gcp.documents import documents as documents_of_this_process
from functions.gcp.queries import NAME, Query
from functions.gcp.writes import Create, Delete, Merge, Put, Update, Write, may_repeat
from functions.records import AlreadyRecordedError, ChangedMeanwhileError
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


@pytest.fixture
def documents() -> Documents:
    """What is tested."""
    return documents_of_this_process()


@pytest.fixture
def path() -> Callable[[], str]:
    """Makes paths of documents that are not there."""
    return lambda: f"things/{uuid.uuid4().hex}"


def test_every_value_is_what_the_library_says(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """Written by one, read by the other, both ways."""
    ours, theirs = path(), path()
    documents.commit(Create(ours, EVERYTHING))
    assert db.document(ours).get().to_dict() == EVERYTHING
    db.document(theirs).set(EVERYTHING)
    found = documents.get(theirs)
    assert found
    assert found.fields == EVERYTHING
    assert type(found.fields["yes"]) is bool


@pytest.mark.parametrize("value", [object(), {1, 2}, {"a": object()}])
def test_what_is_no_value(documents: Documents, path: Callable[[], str], value: object) -> None:
    """A mistake in the code is named by its type, and nothing is written."""
    with pytest.raises(TypeError):
        documents.commit(Create(path(), {"field": value}))


def test_some_fields_of_a_document(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """Those that are asked for and are there."""
    one = path()
    db.document(one).set({"a": 1, "b": {"c": 2, "d": 3}, "e": 4})
    found = documents.get(one, ["a", "b.c", "nowhere"])
    assert found
    assert found.fields == {"a": 1, "b": {"c": 2}}
    assert documents.get(path(), ["a"]) is None


def test_many_documents(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """In the order of the question, also where one is asked for twice, or is not there."""
    paths = [path() for _ in range(3)]
    for number, one in enumerate(paths):
        db.document(one).set({"number": number})
    asked = [paths[2], path(), paths[0], paths[2], paths[1]]
    found = documents.get_all(asked)
    assert [document and document.fields["number"] for document in found] == [2, None, 0, 2, 1]
    [first] = documents.get_all(paths[:1])
    assert first is not None
    assert (first.path, first.id, first.fields) == (paths[0], paths[0][7:], {"number": 0})
    selected = documents.get_all(paths[:2], fields=["gone"])
    assert [document and document.fields for document in selected] == [{}, {}]


@pytest.fixture
def parts(db: firestore.Client, path: Callable[[], str]) -> str:
    """A collection of six documents; the fourth has parts of its own."""
    parent = path()
    for number, name in enumerate("abcdef"):
        fields = {"kind": ["even", "odd"][number % 2], "number": number // 2, "more": "text"}
        db.document(parent, "parts", name).set(fields)
    db.document(parent, "parts", "d", "parts", "g").set({"kind": "even", "number": 9})
    db.document(parent, "parts", "missing", "others", "h").set({})
    return f"{parent}/parts"


EVEN: Any = ("kind", "==", "even")


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


def test_collections_anywhere(db: firestore.Client, documents: Documents, parts: str) -> None:
    """All collections of one id, in the order of their paths."""
    group = f"group-{uuid.uuid4().hex}"
    for name in ("a", "b"):
        db.document(parts, name, group, "g").set({"kind": "even"})
    found = documents.find(Query(collection=group, group=True, where=[EVEN]))
    assert [document.path for document in found] == [f"{parts}/{name}/{group}/g" for name in "ab"]


def test_every_document_under_a_document(documents: Documents, parts: str) -> None:
    """At any depth, and also where a document above is missing."""
    parent = parts.removesuffix("parts")
    found = documents.find(Query(collection=parent, group=True, select=[NAME]))
    assert [document.path.removeprefix(parent) for document in found] == [
        *(f"parts/{name}" for name in "abcd"),
        "parts/d/parts/g",
        *(f"parts/{name}" for name in "ef"),
        "parts/missing/others/h",
    ]


def test_selected_fields(db: firestore.Client, documents: Documents, parts: str) -> None:
    """With the fields of the order; times are those of the document."""
    query = Query(collection=parts, order=["number"], select=["kind", "gone"], limit=1)
    [found] = documents.find(query)
    there = db.document(parts, "a").get()
    assert found.fields == {"kind": "even", "number": 0}
    assert (found.path, found.written) == (f"{parts}/a", there.update_time)
    assert found.created == there.create_time


class Breaking:
    """An API whose queries break after two documents."""

    def __init__(self, api: Any) -> None:
        self._api = api
        self.limits: list[int] = []

    def run_query(self, request: Any, **options: Any) -> Iterator[Any]:
        """Two documents, and an error where there are more."""
        self.limits.append(request.structured_query.limit or 0)
        for read, answer in enumerate(self._api.run_query(request, **options)):
            if read == 2:
                raise exceptions.ServiceUnavailable("broken")  # type: ignore[no-untyped-call]
            yield answer


@pytest.mark.parametrize("order", [[], ["number"], ["-number"]])
def test_a_broken_stream_goes_on_behind_the_last_document(
    db: firestore.Client, documents: Documents, parts: str, order: list[str]
) -> None:
    """No document comes twice, and no more come than were asked for."""
    query = Query(collection=parts, order=order, limit=5)
    whole = documents.find(query)
    api = Breaking(documents._api)  # noqa: SLF001 - the emulator's
    broken = Documents(api, db.project, metadata=[("authorization", "Bearer owner")])  # type: ignore[arg-type]
    assert broken.find(query) == whole
    assert api.limits == [5, 3, 1]


def test_a_caller_that_stops_reads_no_more(documents: Documents, parts: str) -> None:
    """The stream itself is left."""
    counted = Operations()
    first = next(counting_documents(counted).stream(Query(collection=parts)))
    assert (first.id, counted.reads) == ("a", 1)
    assert len(documents.find(Query(collection=parts))) == 6


def test_puts_and_merges(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """A put replaces; a merge writes its fields alone, also inside maps; both create."""
    one, two = path(), path()
    documents.commit(Put(one, {"a": 1, "b": {"c": 2, "7 d": 3}, "e": 5}))
    documents.commit(Merge(one, {("b", "7 d"): 4, ("`f", "\\"): 6}, delete=["e", "gone"]))
    assert db.document(one).get().to_dict() == {"a": 1, "b": {"c": 2, "7 d": 4}, "`f": {"\\": 6}}
    documents.commit(Merge(one), Merge(two, {"b": 1}))
    assert db.document(one).get().to_dict() == {"a": 1, "b": {"c": 2, "7 d": 4}, "`f": {"\\": 6}}
    documents.commit(Put(one, {"e": 5}), Put(two, {}))
    assert [db.document(name).get().to_dict() for name in (one, two)] == [{"e": 5}, {}]


def test_sums(db: firestore.Client, documents: Documents, path: Callable[[], str]) -> None:
    """A commit answers with the sums, and leaves the other fields."""
    one = path()
    db.document(one).set({"more": 1})
    count = Merge(one, {"at": AT}, add={"count": 2, "other": -1})
    assert [documents.commit(count)[0].sums for _ in range(2)] == [[2, -1], [4, -2]]
    documents.commit(Update(one, add={"count": 1}))
    assert db.document(one).get().to_dict() == {"more": 1, "count": 5, "other": -2, "at": AT}


def test_a_commit_is_made_whole_or_not_at_all(
    documents: Documents, path: Callable[[], str]
) -> None:
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
        ([Merge("a/b", add={"c": 1}), Update("a/c", {}, version=Timestamp())], True),
        ([Merge("a/b", add={"c": 1}), Delete("a/c", Timestamp())], True),
    ],
)
def test_a_commit_is_made_again_where_it_adds_nothing_twice(
    writes: list[Write], *, repeated: bool
) -> None:
    """A condition that the first commit ends lets no second commit add."""
    assert may_repeat(writes) is repeated


def test_a_transaction_sees_what_it_writes_over(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """Where the document is written meanwhile, everything is done again."""
    one, seen = path(), list[Any]()

    def writes(found: Document | None) -> Sequence[Write]:
        seen.append(found and found.fields)
        return [Put(one, {"count": (found.fields["count"] if found else 0) + 1})]

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: documents.transact(one, writes), range(2)))
    assert db.document(one).get().to_dict() == {"count": 2}
    assert seen[0] is None
    assert seen[-1] == {"count": 1}


def test_a_transaction_that_is_refused_holds_nothing(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """The error of the decision comes through; the next writer does not wait."""
    one = path()
    db.document(one).set({"n": 0})

    def refuse(_: Document | None) -> Sequence[Write]:
        raise LookupError

    counted = Operations()
    with pytest.raises(LookupError):
        counting_documents(counted).transact(one, refuse)
    assert counted.calls == {"BeginTransaction": 1, "GetDocument": 1, "Rollback": 1}
    documents.commit(Put(one, {"n": 1}))


def test_each_write_stands_alone(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """A document that was changed, is gone, or stands twice in the group, hinders no other."""
    good, changed, gone, deleted = path(), path(), path(), path()
    for name in (good, changed, gone, deleted):
        db.document(name).set({"n": 0, "cleared": 0, "left": 0})
    versions = {name: _version(documents, name) for name in (good, changed, gone, deleted)}
    db.document(changed).update({"n": 5})
    db.document(gone).delete()
    updates = [
        Update(name, {"n": 9}, delete=["cleared"], version=versions[name])
        for name in (changed, gone, good, good)
    ]
    errors = documents.write_each([*updates, Delete(deleted, versions[deleted])])
    assert [type(error) for error in errors] == [
        *(ChangedMeanwhileError, ChangedMeanwhileError),
        *(type(None), exceptions.Aborted, type(None)),
    ]
    assert db.document(good).get().to_dict() == {"n": 9, "left": 0}
    assert [_value(db, name) for name in (changed, gone, deleted)] == [5, None, None]


def _version(documents: Documents, path: str) -> Any:
    found = documents.get(path)
    assert found
    return found.version


def _value(db: firestore.Client, path: str) -> Any:
    return (db.document(path).get().to_dict() or {}).get("n")
