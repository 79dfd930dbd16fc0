"""Queries of Firestore as data.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#structuredquery
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeAlias

from google.cloud.firestore_v1.types import StructuredQuery

from functions.gcp.values import encode_value

NAME: Final = "__name__"
"""The field with the path of a document."""

Condition: TypeAlias = tuple[str, str, Any]
"""A field, an operator and a value, such as `("status", "==", "approved")`."""

_OPERATORS: Final[Mapping[str, int]] = {
    "==": StructuredQuery.FieldFilter.Operator.EQUAL,
    "<": StructuredQuery.FieldFilter.Operator.LESS_THAN,
    "<=": StructuredQuery.FieldFilter.Operator.LESS_THAN_OR_EQUAL,
    ">": StructuredQuery.FieldFilter.Operator.GREATER_THAN,
    ">=": StructuredQuery.FieldFilter.Operator.GREATER_THAN_OR_EQUAL,
    "in": StructuredQuery.FieldFilter.Operator.IN,
}


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


def encode_query(query: Query, root: str, into: Any) -> None:
    """Write `query` into a protobuf `StructuredQuery`; `root` comes before each path."""
    source = into.from_.add()
    source.collection_id = query.collection.rpartition("/")[2]
    source.all_descendants = query.group
    fields = [name.removeprefix("-") for name in query.order]
    for name in dict.fromkeys((*query.select, *fields)) if query.select else ():
        into.select.fields.add().field_path = name
    if query.where:
        into.where.composite_filter.op = StructuredQuery.CompositeFilter.Operator.AND
    for name, operator, value in query.where:
        condition = into.where.composite_filter.filters.add().field_filter
        condition.field.field_path = name
        condition.op = _OPERATORS[operator]
        encode_value(value, condition.value)
    descending = query.order[-1:] and query.order[-1].startswith("-")
    for name in (*query.order, f"-{NAME}" if descending else NAME):
        order = into.order_by.add()
        order.field.field_path = name.removeprefix("-")
        order.direction = (
            StructuredQuery.Direction.DESCENDING
            if name.startswith("-")
            else StructuredQuery.Direction.ASCENDING
        )
    if query.after:
        *values, path = query.after
        for value in values:
            encode_value(value, into.start_at.values.add())
        into.start_at.values.add().reference_value = root + path
    if query.limit is not None:
        into.limit.value = query.limit
