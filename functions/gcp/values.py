"""Converts values of Firestore documents between Python and protobuf.

The values are None, bool, int, float, str, bytes, aware datetimes, lists and mappings of values.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#value
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from functions.documents.document import Document


def encode(fields: Mapping[str, Any], into: Any) -> None:
    """Write `fields` into a protobuf map of values.

    Raises:
        TypeError: a value has another type; the text names the type.
    """
    for name, value in fields.items():
        encode_value(value, into[name])


def encode_value(value: Any, into: Any) -> None:  # noqa: C901 - a case for each type
    """Write `value` into a protobuf `Value`; see `encode`."""
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
    """The document at `path` in a protobuf `Document`, of Firestore's API or of Eventarc."""
    return Document(
        path,
        decoded(found.fields),
        version=found.update_time.ToNanoseconds(),
        created=found.create_time.ToDatetime(UTC),
    )


def decoded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The values in a protobuf map."""
    return {name: _decoded_value(value) for name, value in fields.items()}


def _decoded_value(value: Any) -> Any:
    kind = value.WhichOneof("value_type")
    content = getattr(value, kind)
    match kind:
        case "null_value":
            return None
        case "timestamp_value":
            return content.ToDatetime(UTC)
        case "map_value":
            return decoded(content.fields)
        case "array_value":
            return [_decoded_value(element) for element in content.values]
        case _:
            return content
