"""Deleted events in Firestore, `deletedEvents/{eventId}`, and the orphans under each event."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from functions.documents.documents import Documents
from functions.documents.query import NAME, Query
from functions.documents.refusals import ChangedMeanwhileError
from functions.documents.write import Delete, Put, Update
from functions.wall.emptying import Tombstone

_PAGE: Final = 500  # the most that one BatchWrite takes
_TOMBSTONES: Final = 100  # of one sweep


class DeletedEventStore:
    """See `emptying.DeletedEvents`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def put_tombstone(self, event_id: str, at: datetime) -> None:
        """See `emptying.DeletedEvents`."""
        self._documents.commit(Put(_path(event_id), {"deletedAt": at}))

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """See `emptying.DeletedEvents`; the mark stands in the place of `deletedAt`."""
        marked = Update(
            _path(tombstone.event_id),
            {"emptiedAt": at},
            delete=["deletedAt"],
            version=tombstone.version,
        )
        with suppress(ChangedMeanwhileError):  # the trigger has run again: the next sweep marks it
            self._documents.commit(marked)

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """See `emptying.DeletedEvents`."""
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", before)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        return [Tombstone(found.id, found.version) for found in self._documents.find(tombstones)]

    def page(self, event_id: str) -> Sequence[str]:
        """See `emptying.DeletedEvents`."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # also a collection whose parent is gone
            select=[NAME],
            limit=_PAGE,
        )
        return [found.path for found in self._documents.find(orphans)]

    def delete(self, orphans: Sequence[str]) -> None:
        """See `emptying.DeletedEvents`."""
        self._documents.write_each([Delete(path) for path in orphans])


def _path(event_id: str) -> str:
    return f"deletedEvents/{event_id}"
