"""Deleted events in Firestore, `deletedEvents/{eventId}`, and the orphans under each event."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from functions.documents.documents import Documents
from functions.documents.query import NAME, Query
from functions.documents.refusals import ChangedMeanwhileError
from functions.documents.write import Delete, Put, Update, Write
from functions.wall.emptying import Orphan, Tombstone

_PAGE: Final = 500  # the most that one BatchWrite takes
_TOMBSTONES: Final = 100  # of one sweep


class DeletedEventStore:
    """See `emptying.DeletedEvents`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def put_tombstone(self, event_id: str, at: datetime) -> Tombstone:
        """See `emptying.DeletedEvents`."""
        [written] = self._documents.commit(Put(_path(event_id), {"deletedAt": at}))
        return Tombstone(event_id, written.version)

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """See `emptying.DeletedEvents`."""
        fields = {"emptiedAt": at}
        self._unless_changed(Update(_path(tombstone.event_id), fields, version=tombstone.version))

    def forget(self, tombstone: Tombstone) -> None:
        """See `emptying.DeletedEvents`."""
        self._unless_changed(Delete(_path(tombstone.event_id), tombstone.version))

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """See `emptying.DeletedEvents`."""
        tombstones = Query(
            collection="deletedEvents",
            where=[("deletedAt", "<", before)],
            order=["deletedAt"],
            limit=_TOMBSTONES,
        )
        return [Tombstone(found.id, found.version) for found in self._documents.find(tombstones)]

    def page(self, event_id: str, after: str | None) -> Sequence[Orphan]:
        """See `emptying.DeletedEvents`."""
        orphans = Query(
            collection=f"events/{event_id}/",
            group=True,  # also a collection whose parent is gone
            select=[NAME],
            limit=_PAGE,
            after=[after] if after else [],
        )
        return [
            Orphan(found.path, found.created, found.version)
            for found in self._documents.find(orphans)
        ]

    def created(self, event_id: str) -> datetime | None:
        """See `emptying.DeletedEvents`."""
        found = self._documents.get(f"events/{event_id}", ["tenantId"])
        return found.created if found else None

    def delete(self, orphans: Sequence[Orphan]) -> None:
        """See `emptying.DeletedEvents`."""
        self._documents.write_each([Delete(orphan.path, orphan.version) for orphan in orphans])

    def _unless_changed(self, write: Write) -> None:
        with suppress(ChangedMeanwhileError):  # the writer goes on
            self._documents.commit(write)


def _path(event_id: str) -> str:
    return f"deletedEvents/{event_id}"
