"""firestore.indexes.json has an index for every query. The emulator needs no indexes."""

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from google.cloud.firestore_v1 import types

from functions.firestore.codec import encode_query
from functions.firestore.model import Document, Documents, Query
from functions.recap.audience.guest_store import GuestStore
from functions.recap.ledger.batch import RecapKey
from functions.recap.ledger.recap_store import RecapStore
from functions.wall.photo_store import PhotoStore
from functions.wall.retention import Forgetting, OrphanCleanup
from functions.wall.wall_event import Photo
from functions.webhooks.deliveries.delivery import Cursor, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.events import EventType
from tests.in_memory.adapters import service_on
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.clock import Clock

ROOT: Final = Path(__file__).parents[2]
INDEXES: Final = json.loads((ROOT / "firestore.indexes.json").read_text())
NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
URL: Final = "https://example.com/hook"
UPLOADED: Final = EventType.PHOTO_UPLOADED
CLOCK: Final = Clock().process


def in_turn(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Apply `work` to each item in order."""
    return [work(item) for item in items]


def ended(**selected: Any) -> Callable[[Documents], object]:
    """Read a page of ended deliveries."""
    within = EndedWithin(since=NOW, until=NOW, **selected)
    return lambda documents: DeliveryStore(documents).ended("e1", within, Cursor(NOW, "d1"), 3)


def count_ended(**selected: Any) -> Callable[[Documents], object]:
    """Count ended deliveries."""
    within = EndedWithin(since=NOW, until=NOW, **selected)
    return lambda documents: DeliveryStore(documents).count_ended("e1", within)


def newest(outcome: Outcome | None, event_type: EventType | None) -> Callable[[Documents], object]:
    """Read the newest deliveries to an endpoint."""
    after = Cursor(NOW, "d1")
    return lambda documents: list(
        DeliveryStore(documents).newest("e1", ("a",), outcome, event_type, after)
    )


def first_photo(**fields: Any) -> Callable[[Documents], object]:
    """Read the first photo of a guest."""
    photo = Photo.read("p1", fields, created=NOW, updated=NOW)
    return lambda documents: PhotoStore(documents).first_photo_by("e1", photo)


QUERIES: Final[dict[str, Sequence[Callable[[Documents], object]]]] = {
    "_ended_within": [
        ended(),
        ended(endpoints=("a",)),
        ended(event_type=UPLOADED),
        ended(endpoints=("a",), event_type=UPLOADED),
        count_ended(),
        count_ended(endpoints=("a",)),
        count_ended(event_type=UPLOADED),
        count_ended(endpoints=("a",), event_type=UPLOADED),
        count_ended(endpoints=("a",), tests_only=True),
        count_ended(endpoints=("a",), event_type=UPLOADED, tests_only=True),
    ],
    "DeliveryStore.newest": [
        newest(None, None),
        newest(Outcome.FAILED, None),
        newest(None, UPLOADED),
        newest(Outcome.FAILED, UPLOADED),
    ],
    "DeliveryStore.last": [lambda d: DeliveryStore(d).last("e1", URL, Outcome.SUCCESS)],
    "DeliveryStore.overdue": [lambda d: list(DeliveryStore(d).overdue(NOW))],
    "EndpointStore.of_event": [lambda d: EndpointStore(d).of_event("e1")],
    "EndpointStore.due": [lambda d: EndpointStore(d).due(NOW)],
    "PhotoStore.count_photos": [
        lambda d: PhotoStore(d).count_photos("e1"),
        lambda d: PhotoStore(d).count_photos("e1", 100, NOW),
    ],
    "PhotoStore.first_photo_by": [
        first_photo(uploaderEmail="a@example.com"),
        first_photo(uploaderUid="u1"),
    ],
    "OrphanCleanup.sweep": [lambda d: OrphanCleanup(d, CLOCK).sweep()],
    "OrphanCleanup._delete_all": [lambda d: OrphanCleanup(d, CLOCK).empty("e1")],
    "Forgetting.sweep": [lambda d: Forgetting(d, CLOCK).sweep()],
    "Forgetting._forget": [
        lambda d: Forgetting(d, CLOCK)._forget("e1", "p1", 0.0),  # noqa: SLF001
    ],
    "overdue": [
        lambda d: RecapStore(d).crashed(NOW),
        lambda d: service_on(d).schedule_sweep.sweep(),
    ],
    "RecapStore.batches": [lambda d: RecapStore(d).batches(RecapKey("e1", "r1"))],
    "RecapStore.sent_at": [lambda d: RecapStore(d).sent_at("e1")],
    "RecapSchedule._recap_sent": [
        lambda d: service_on(d).recap_schedule._recap_sent("e1", "v1"),  # noqa: SLF001
    ],
    "GuestStore.approved_photos": [lambda d: list(GuestStore(d, in_turn).approved_photos("e1"))],
    "GuestStore.records_with": [
        lambda d: GuestStore(d, in_turn).records_with(["a@example.com"]),
    ],
}
"""The functions with a query, with a call for each of its variants."""


@dataclass(eq=False, repr=False)
class AskedDocuments(InMemoryDocuments):
    """Documents in memory that record the queries."""

    queries: list[Query] = field(default_factory=list)

    def stream(self, query: Query) -> Iterator[Document]:
        """Record the query."""
        self.queries.append(query)
        return super().stream(query)

    def count(self, query: Query) -> int:
        """Record the query."""
        self.queries.append(query)
        return super().count(query)


@dataclass(frozen=True, slots=True)
class RequiredIndex:
    """The required index: compared fields in any order, followed by sorted fields."""

    collection: str
    scope: str
    equal: frozenset[str]
    ordered: tuple[tuple[str, str], ...]

    @classmethod
    def from_query(cls, query: Any) -> "RequiredIndex":
        """Return the index that `query` requires, without the name, which Firestore appends."""
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
    def exists(self) -> bool:
        """Whether firestore.indexes.json has it, or Firestore creates it automatically."""
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


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name) for name, calls in QUERIES.items() for call in calls]
)
def test_every_query_has_its_index(call: Callable[[Documents], object]) -> None:
    """A deployed query without an index fails."""
    documents = AskedDocuments()
    call(documents)
    [query] = documents.queries
    encoded = types.StructuredQuery.pb(types.StructuredQuery())
    encode_query(query, "", encoded)
    needed = RequiredIndex.from_query(types.StructuredQuery.wrap(encoded))

    assert needed.exists, needed


def test_the_table_has_every_function_with_a_query() -> None:
    """A new query must be added to `QUERIES`."""
    assert QUERIES.keys() == {
        name
        for path in (ROOT / "functions").rglob("*.py")
        for name in functions_with_a_query(ast.parse(path.read_text()))
    }


def functions_with_a_query(tree: ast.Module) -> Iterator[str]:
    """Yield the functions and methods of a module that call `Query`."""
    classes = [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", tree.body), *classes]:
        for function in body:
            if isinstance(function, ast.FunctionDef) and any(
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Query"
                for node in ast.walk(function)
            ):
                yield prefix + function.name
