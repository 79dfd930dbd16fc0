"""Single documents by Firestore's own messages, against what its library reads and writes."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from functions.gcp.documents import Create, Documents, Update
from functions.gcp.documents import documents as documents_of_this_process

AT = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
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
    documents.create([Create(ours, EVERYTHING)])
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
        documents.create([Create(path(), {"field": value})])


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
    assert [
        document and document.fields["number"] for document in documents.get_all(paths[:1])
    ] == [0]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 11])
def test_found_documents(
    db: firestore.Client, documents: Documents, path: Callable[[], str], count: int
) -> None:
    """All of one kind, in the order of their ids, whatever the size of a page; selected fields."""
    parent = path()
    batch = db.batch()
    for number in range(count):
        fields = {"kind": "a", "number": number, "more": "text"}
        batch.set(db.document(parent, "parts", f"{number:02}"), fields)
        batch.set(db.document(parent, "parts", f"{number:02}-b"), fields | {"kind": "b"})
    batch.commit()
    found = list(documents.find(f"{parent}/parts", "kind", "a", ["number", "gone"], page=5))
    assert [key for key, _ in found] == [f"{number:02}" for number in range(count)]
    assert [one.fields for _, one in found] == [{"number": number} for number in range(count)]
    for key, one in found:
        assert abs(one.created - db.document(parent, "parts", key).get().create_time) < MILLISECOND


@pytest.mark.parametrize(("at_most", "expected"), [(None, 5), (2, 2), (9, 5)])
def test_a_count(
    db: firestore.Client,
    documents: Documents,
    path: Callable[[], str],
    at_most: int | None,
    expected: int,
) -> None:
    """Of a collection, to a limit; of one that is not there, none."""
    parent = path()
    for number in range(5):
        db.document(parent, "parts", str(number)).set({})
    assert documents.count(f"{parent}/parts", at_most) == expected
    assert documents.count(f"{path()}/parts", at_most) == 0


def test_the_first_of_some(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """By a field; what has none does not count, and where there is nothing there is none."""
    parent = path()
    for name, fields in (
        ("late", {"kind": "a", "at": AT}),
        ("early", {"kind": "a", "at": AT - MILLISECOND}),
        ("other", {"kind": "b", "at": AT - 2 * MILLISECOND}),
        ("nameless", {"kind": "a"}),
    ):
        db.document(parent, "parts", name).set(fields)
    first = documents.first(f"{parent}/parts", "kind", "a", by="at")
    assert first is not None
    assert (first[0], first[1].fields) == ("early", {"kind": "a", "at": AT - MILLISECOND})
    until = ("at", AT - MILLISECOND)
    assert documents.count(f"{parent}/parts", not_after=until) == 2
    assert documents.count(f"{parent}/parts", 1, not_after=until) == 1
    assert documents.first(f"{parent}/parts", "kind", "c", by="at") is None


def test_a_write(db: firestore.Client, documents: Documents, path: Callable[[], str]) -> None:
    """The whole document, or the field paths that are named; it is made where there is none."""
    one = path()
    documents.write(one, {"a": 1, "b": {"c": 2, "d": 3}})
    documents.write(one, {"b": {"c": 4}}, mask=["b.c"])
    assert db.document(one).get().to_dict() == {"a": 1, "b": {"c": 4, "d": 3}}
    documents.write(one, {"e": 5})
    assert db.document(one).get().to_dict() == {"e": 5}
    two = path()
    documents.write(two, {"b": {"c": 4}}, mask=["b.c"])
    assert db.document(two).get().to_dict() == {"b": {"c": 4}}


def test_an_increment(db: firestore.Client, documents: Documents, path: Callable[[], str]) -> None:
    """Answers with the sum, and leaves what else there is."""
    one = path()
    db.document(one).set({"more": 1})
    sums = [documents.increment(one, "count", {"at": AT}, seconds=10) for _ in range(3)]
    assert sums == [1, 2, 3]
    assert db.document(one).get().to_dict() == {"more": 1, "count": 3, "at": AT}


def test_all_are_created_or_none(documents: Documents, path: Callable[[], str]) -> None:
    """One that is there keeps the others away."""
    there, new = path(), path()
    documents.create([Create(there, {"a": 1})])
    with pytest.raises(exceptions.AlreadyExists):
        documents.create([Create(new, {"a": 2}), Create(there, {"a": 2})])
    assert documents.get(new) is None


def test_an_update(db: firestore.Client, documents: Documents, path: Callable[[], str]) -> None:
    """It sets its fields, deletes others, and leaves the rest."""
    one = path()
    db.document(one).set({"set": 1, "deleted": 1, "left": 1, "map": {"whole": 1}})
    [error] = documents.update_all(
        [Update(one, {"set": 2, "map": {"new": 1}}, _version(documents, one), ["deleted"])]
    )
    assert error is None
    assert db.document(one).get().to_dict() == {"set": 2, "left": 1, "map": {"new": 1}}


def test_each_update_stands_alone(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """What was written meanwhile, is gone, or stands twice in the group, hinders no other."""
    good, changed, gone = path(), path(), path()
    for one in (good, changed, gone):
        db.document(one).set({"n": 0})
    versions = {one: _version(documents, one) for one in (good, changed, gone)}
    db.document(changed).update({"n": 5})
    db.document(gone).delete()
    asked = [changed, gone, good, good]
    errors = documents.update_all([Update(one, {"n": 9}, versions[one]) for one in asked])
    assert isinstance(errors[0], exceptions.FailedPrecondition)
    assert isinstance(errors[1], exceptions.NotFound | exceptions.FailedPrecondition)
    assert errors[2] is None
    assert isinstance(errors[3], exceptions.Aborted)
    assert [_value(db, one) for one in (good, changed, gone)] == [9, 5, None]


def test_a_version_is_exact(
    db: firestore.Client, documents: Documents, path: Callable[[], str]
) -> None:
    """The version of a query's snapshot is the same as that of a read."""
    one = path()
    db.document(one).set({"n": 0})
    snapshot = db.document(one).get()
    assert snapshot.update_time
    assert snapshot.update_time.timestamp_pb() == _version(documents, one)


def _version(documents: Documents, path: str) -> Any:
    found = documents.get(path)
    assert found
    return found.version


def _value(db: firestore.Client, path: str) -> Any:
    return (db.document(path).get().to_dict() or {}).get("n")
