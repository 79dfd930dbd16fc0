"""firestore.indexes.json: every query but the recap's plain ones; the emulator needs no index."""

import inspect
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from google.cloud.firestore_v1 import types

from functions.firestore.client import FirestoreDocuments
from functions.wall.photo_store import PhotoStore
from functions.wall.wall_event import Photo
from functions.webhooks.deliveries.delivery import Cursor, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.events import EventType
from functions.webhooks.shared_log import LogShareStore

INDEXES: Final = json.loads((Path(__file__).parents[2] / "firestore.indexes.json").read_text())
NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
URL: Final = "https://example.com/hook"
UPLOADED: Final = EventType.PHOTO_UPLOADED

QUERIES: Final[dict[str, list[tuple[Any, ...]]]] = {
    "ended": [
        ("e1", EndedWithin(since=NOW, until=NOW), Cursor(NOW, "d1"), 3),
        ("e1", EndedWithin(since=NOW, until=NOW, endpoints=("a",)), None, 3),
        ("e1", EndedWithin(since=NOW, until=NOW, event_type=UPLOADED), None, 3),
        ("e1", EndedWithin(since=NOW, until=NOW, endpoints=("a",), event_type=UPLOADED), None, 3),
    ],
    "count_ended": [
        ("e1", EndedWithin(since=NOW, until=NOW)),
        ("e1", EndedWithin(since=NOW, until=NOW, endpoints=("a",))),
        ("e1", EndedWithin(since=NOW, until=NOW, event_type=UPLOADED)),
        ("e1", EndedWithin(since=NOW, until=NOW, endpoints=("a",), event_type=UPLOADED)),
        ("e1", EndedWithin(since=NOW, until=NOW, endpoints=("a",), tests_only=True)),
        (
            "e1",
            EndedWithin(
                since=NOW, until=NOW, endpoints=("a",), event_type=UPLOADED, tests_only=True
            ),
        ),
    ],
    "newest": [
        ("e1", ("a",), None, None, Cursor(NOW, "d1")),
        ("e1", ("a",), Outcome.FAILED, None, None),
        ("e1", ("a",), None, UPLOADED, None),
        ("e1", ("a",), Outcome.FAILED, UPLOADED, None),
    ],
    "last": [("e1", URL, Outcome.SUCCESS)],
    "due": [(NOW,)],
    "of_event": [("e1",)],
    "overdue": [(NOW,)],
    "count_photos": [("e1",), ("e1", 100, NOW)],
    "first_photo_by": [
        ("e1", Photo.read("p1", {"uploaderEmail": "a@example.com"}, created=NOW, updated=NOW)),
        ("e1", Photo.read("p1", {"uploaderUid": "u1"}, created=NOW, updated=NOW)),
    ],
}
"""Methods of the ports that ask a query, with arguments of every kind that makes another."""

BY_NAME: Final = {
    *("create", "find", "load", "save", "move", "restart"),
    *("milestones", "revoke", "note_failure", "note_notice", "forget"),
}
"""Those that read and write documents by their names."""


class Asked:
    """The API, which finds nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.queries: list[Any] = []

    def run_query(self, request: types.RunQueryRequest, **_: Any) -> Iterator[Any]:
        """A query."""
        self.queries.append(request.structured_query)
        return iter(())

    def run_aggregation_query(
        self, request: types.RunAggregationQueryRequest, **_: Any
    ) -> Iterator[Any]:
        """An aggregation over a query."""
        asked = request.structured_aggregation_query
        self.queries.append(asked.structured_query)
        zero = types.AggregationResult(
            aggregate_fields={
                aggregation.alias: types.Value(integer_value=0)
                for aggregation in asked.aggregations
            }
        )
        return iter([types.RunAggregationQueryResponse(result=zero, read_time=NOW)])


@dataclass(frozen=True, slots=True)
class Needed:
    """What an index must have: fields that are compared, in any order, then these in this one."""

    collection: str
    scope: str
    equal: frozenset[str]
    ordered: tuple[tuple[str, str], ...]

    @classmethod
    def by(cls, query: Any) -> "Needed":
        """What `query` needs; Firestore appends the name by itself."""
        [source] = query.from_
        filters = [condition.field_filter for condition in query.where.composite_filter.filters]
        equal = {
            condition.field.field_path
            for condition in filters
            if condition.op.name in ("EQUAL", "IN")
        }
        ranges = {condition.field.field_path for condition in filters} - equal
        ordered = [
            (order.field.field_path, order.direction.name)
            for order in query.order_by
            if order.field.field_path != "__name__"
        ]
        assert ranges <= {name for name, _ in ordered[:1]}, "Firestore orders by a range first"
        scope = "COLLECTION_GROUP" if source.all_descendants else "COLLECTION"
        return cls(source.collection_id, scope, frozenset(equal), tuple(ordered))

    @property
    def is_there(self) -> bool:
        """Whether firestore.indexes.json has it, or Firestore makes it unasked."""
        if len(self.equal) + len(self.ordered) <= 1:
            return self._has_single_field()
        return any(
            (index["collectionGroup"], index["queryScope"]) == (self.collection, self.scope)
            and self._is_served_by(
                [(field["fieldPath"], field["order"]) for field in index["fields"]]
            )
            for index in INDEXES["indexes"]
        )

    def _is_served_by(self, fields: list[tuple[str, str]]) -> bool:
        compared, ordered = fields[: len(self.equal)], fields[len(self.equal) :]
        return {name for name, _ in compared} == self.equal and tuple(ordered) == self.ordered

    def _has_single_field(self) -> bool:
        for name, order in (*((condition, "ASCENDING") for condition in self.equal), *self.ordered):
            own = [
                override["indexes"]
                for override in INDEXES["fieldOverrides"]
                if (override["collectionGroup"], override["fieldPath"]) == (self.collection, name)
            ]
            made: Iterable[Any] = own[0] if own else [{"order": order}]
            scopes = {
                attempt.get("queryScope", "COLLECTION")
                for attempt in made
                if attempt["order"] == order
            }
            if self.scope not in scopes:
                return False
        return True


def asked(method: str, arguments: tuple[Any, ...]) -> list[Any]:
    """The queries that a method of a store makes."""
    api = Asked()
    documents = FirestoreDocuments(api, "demo-wall")  # type: ignore[arg-type]
    stores = (
        DeliveryStore(documents),
        LogShareStore(documents),
        EndpointStore(documents),
        PhotoStore(documents),
    )
    [store] = [store for store in stores if hasattr(store, method)]
    answer = getattr(store, method)(*arguments)
    if inspect.isgenerator(answer):
        list(answer)
    return api.queries


@pytest.mark.parametrize(
    ("method", "arguments"),
    [(method, arguments) for method, calls in QUERIES.items() for arguments in calls],
)
def test_every_query_has_its_index(method: str, arguments: tuple[Any, ...]) -> None:
    """Every query has an index, because a deployed query without one fails."""
    [query] = asked(method, arguments)
    needed = Needed.by(query)

    assert needed.is_there, needed


def test_no_query_is_forgotten() -> None:
    """Every method of the ports is looked at here, or asks no query."""
    methods = {
        name
        for port in (
            DeliveryStore,
            LogShareStore,
            EndpointStore,
            PhotoStore,
        )
        for name, _ in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }
    assert methods == QUERIES.keys() | BY_NAME
