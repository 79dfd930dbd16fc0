"""Records that cannot be read, as after a roll-back, keep no other record waiting."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from functions import log
from functions.firestore.model import Document

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
