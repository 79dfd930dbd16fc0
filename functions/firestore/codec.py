"""Conversion of values, queries and writes between Python and protobuf.

The values are None, bool, int, float, str, bytes, aware datetimes, lists and mappings of values.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#value
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from google.cloud.firestore_v1.types import StructuredQuery

from functions.firestore.model import NAME, Create, Delete, Document, Merge, Query, Update, Write


def encode(fields: Mapping[str, Any], into: Any) -> None:
    """Write `fields` into a protobuf map of values.

    Raises:
        TypeError: A value has an unsupported type, which is named in the text.
    """
    for name, value in fields.items():
        encode_value(value, into[name])


def encode_value(value: Any, into: Any) -> None:  # noqa: C901 - a case for each type
    """Write `value` into a protobuf `Value` (see `encode`)."""
    match value:
        case None:
            into.null_value = 0
        case bool():
            into.boolean_value = value
        case int():
            into.integer_value = value
        case float():
            into.double_value = value
        case str():
            into.string_value = value
        case bytes():
            into.bytes_value = value
        case datetime():
            into.timestamp_value.FromDatetime(value)
        case Mapping():
            into.map_value.SetInParent()
            encode(value, into.map_value.fields)
        case Sequence():
            into.array_value.SetInParent()
            for element in value:
                encode_value(element, into.array_value.values.add())
        case _:
            raise TypeError(type(value).__name__)


def document(found: Any, path: str) -> Document:
    """Convert a protobuf `Document` of Firestore's API or Eventarc to the document at `path`."""
    return Document(
        path,
        decoded(found.fields),
        version=found.update_time.ToNanoseconds(),
        created=found.create_time.ToDatetime(UTC),
    )


def decoded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in a protobuf map."""
    return {name: _decoded_value(value) for name, value in fields.items()}


_DECODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "null_value": lambda _: None,
    "timestamp_value": lambda time: time.ToDatetime(UTC),
    "map_value": lambda nested: decoded(nested.fields),
    "array_value": lambda array: [_decoded_value(element) for element in array.values],
}
"""Decoders for the kinds of values that protobuf does not convert to Python values."""


def _decoded_value(value: Any) -> Any:
    kind = value.WhichOneof("value_type")
    content = getattr(value, kind)
    return _DECODERS[kind](content) if kind in _DECODERS else content


_OPERATORS: Final[Mapping[str, int]] = {
    "==": StructuredQuery.FieldFilter.Operator.EQUAL,
    "<": StructuredQuery.FieldFilter.Operator.LESS_THAN,
    "<=": StructuredQuery.FieldFilter.Operator.LESS_THAN_OR_EQUAL,
    ">": StructuredQuery.FieldFilter.Operator.GREATER_THAN,
    ">=": StructuredQuery.FieldFilter.Operator.GREATER_THAN_OR_EQUAL,
    "in": StructuredQuery.FieldFilter.Operator.IN,
}


def encode_query(query: Query, root: str, into: Any) -> None:
    """Write `query` into a protobuf `StructuredQuery`. `root` is the prefix of every path."""
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


def encode_write(write: Write, name: str, into: Any) -> None:
    """Write `write` into a protobuf `Write`. `name` is the full name of the document.

    Raises:
        TypeError: A value has an unsupported type.
    """
    condition = into.current_document
    if isinstance(write, Delete):
        into.delete = name
    else:
        into.update.name = name
        if isinstance(write, Merge):
            _encode_some(write, into)
        else:
            encode(write.fields, into.update.fields)
    if isinstance(write, Create):
        condition.exists = False
    elif version := getattr(write, "version", None):
        condition.update_time.FromNanoseconds(version)
    elif isinstance(write, Update):
        condition.exists = True


def _encode_some(write: Merge, into: Any) -> None:
    fields, mask = into.update.fields, []
    for name, value in write.fields.items():
        if isinstance(name, str):
            encode_value(value, fields[name])
            mask.append(name)
        else:
            outer, inner = name
            encode_value(value, fields[outer].map_value.fields[inner])
            mask.append(f"{_quoted(outer)}.{_quoted(inner)}")
    into.update_mask.SetInParent()  # an empty mask keeps all fields, a missing one replaces them
    into.update_mask.field_paths.extend((*mask, *write.delete))
    for name, number in write.add.items():
        transform = into.update_transforms.add()
        transform.field_path = name
        transform.increment.integer_value = number


def _quoted(name: str) -> str:
    """Quote `name` as a segment of a field path."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"
