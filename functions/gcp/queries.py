"""Writes a query as protobuf.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#structuredquery
"""

from collections.abc import Mapping
from typing import Any, Final

from google.cloud.firestore_v1.types import StructuredQuery

from functions.documents.query import NAME, Query
from functions.gcp.values import encode_value

_OPERATORS: Final[Mapping[str, int]] = {
    "==": StructuredQuery.FieldFilter.Operator.EQUAL,
    "<": StructuredQuery.FieldFilter.Operator.LESS_THAN,
    "<=": StructuredQuery.FieldFilter.Operator.LESS_THAN_OR_EQUAL,
    ">": StructuredQuery.FieldFilter.Operator.GREATER_THAN,
    ">=": StructuredQuery.FieldFilter.Operator.GREATER_THAN_OR_EQUAL,
    "in": StructuredQuery.FieldFilter.Operator.IN,
}


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
