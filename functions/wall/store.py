"""Deleted events in Firestore, `deletedEvents/{eventId}`, and the orphans under each event."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.firestore.model import (
    NAME,
    ChangedMeanwhileError,
    Delete,
    Document,
    Documents,
    Put,
    Query,
    Update,
)

_TOMBSTONES: Final = 100  # of one sweep


@dataclass(frozen=True, slots=True)
class DeletedEventStore:
    """Tombstones and orphans of deleted events; every method is one call."""

    documents: Documents
    page_size: int = 500
    """The most writes that one BatchWrite takes."""

    def put_tombstone(self, event_id: str, at: datetime) -> None:
        """Write the event's tombstone, not marked as emptied."""
        self.documents.commit(Put(_path(event_id), {"deletedAt": at}))

    def mark_emptied(self, tombstone: Document, at: datetime) -> None:
        """Mark it as emptied for good, unless it was written since: no `deletedAt` is left."""
        marked = Update(
            tombstone.path, {"emptiedAt": at}, delete=["deletedAt"], version=tombstone.version
        )
        with suppress(ChangedMeanwhileError):  # the trigger has run again: the next sweep marks it
            self.documents.commit(marked)

    def deleted(self, before: datetime) -> Iterable[Document]:
        """Some tombstones, not marked, of events deleted `before` that moment, oldest first."""
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", before)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        return self.documents.find(tombstones)

    def page(self, event_id: str) -> Sequence[str]:
        """Paths of documents under the event, at any depth; empty where none is left."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # also a collection whose parent is gone
            select=[NAME],
            limit=self.page_size,
        )
        return [found.path for found in self.documents.find(orphans)]

    def delete(self, orphans: Sequence[str]) -> None:
        """Delete the documents at these paths."""
        self.documents.write_each([Delete(path) for path in orphans])


def _path(event_id: str) -> str:
    return f"deletedEvents/{event_id}"
