"""What can be read of documents that clients, or other releases, have written.

Each field may be missing or of a wrong type. What cannot be read becomes nothing and never an
error: a trigger that fails on a document fails for ever.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from functions import log
from functions.firestore.model import Document

_S = TypeVar("_S", bound=StrEnum)


def text(value: object) -> str | None:
    """`value` where it is a string."""
    return value if isinstance(value, str) else None


def time(value: object) -> datetime | None:
    """`value` in UTC where it is an aware time."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else None


def status(fields: Mapping[str, Any], otherwise: _S) -> _S:
    """The field `status`, or `otherwise` where it is none of that enumeration."""
    try:
        return type(otherwise)(str(fields.get("status")))
    except ValueError:
        return otherwise


Record = TypeVar("Record")


def readable(documents: Iterable[Document], read: Callable[[Document], Record]) -> Iterator[Record]:
    """The records in `documents`; a record that cannot be read is logged and passed over."""
    for document in documents:
        record = read_or_none(document, read)
        if record is not None:
            yield record


def read_or_none(document: Document, read: Callable[[Document], Record]) -> Record | None:
    """The record in `document`; None, and a line with its path, where it cannot be read."""
    try:
        return read(document)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it
        log.fault("record.unreadable", error, path=document.path)
        return None
