"""Writes a write as protobuf.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#write
"""

from typing import Any

from functions.documents.write import Create, Delete, Merge, Update, Write
from functions.gcp.values import encode, encode_value


def encode_write(write: Write, name: str, into: Any) -> None:
    """Write `write` into a protobuf `Write`; `name` is the full name of the document.

    Raises:
        TypeError: a value has a type that Firestore does not know.
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
    into.update_mask.SetInParent()  # an empty mask keeps all fields; a missing mask replaces them
    into.update_mask.field_paths.extend((*mask, *write.delete))
    for name, number in write.add.items():
        transform = into.update_transforms.add()
        transform.field_path = name
        transform.increment.integer_value = number


def _quoted(name: str) -> str:
    """`name` as a segment of a field path."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"
