"""Deleted events in Firestore: `deletedEvents/{eventId}`, and the orphans under `events/{eventId}`.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.app_names import DATA_MODEL, AppNames
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.wall.emptying import Orphan, Tombstone

_PAGE: Final = 500  # the most that one BatchWrite takes
_TOMBSTONES: Final = 100  # of one sweep


class DeletedEventStore:
    """See `emptying.DeletedEvents`."""

    def __init__(self, client: firestore.Client, names: AppNames = DATA_MODEL) -> None:
        self._client = client
        self._names = names
        # The library has no public method for a query of all descendants, or for BatchWrite.
        self._api = client._firestore_api  # noqa: SLF001
        self._database = client._database_string  # noqa: SLF001
        self._metadata = client._rpc_metadata  # noqa: SLF001

    def put_tombstone(self, event_id: str, at: datetime) -> Tombstone:
        """See `emptying.DeletedEvents`."""
        written = self._tombstone(event_id).set(
            {"deletedAt": at}, retry=RETRY, timeout=CALL_SECONDS
        )
        return Tombstone(event_id, written.update_time)

    def mark_emptied(self, tombstone: Tombstone, at: datetime) -> None:
        """See `emptying.DeletedEvents`."""
        self._unless_changed(tombstone, "update", {"emptiedAt": at})

    def forget(self, tombstone: Tombstone) -> None:
        """See `emptying.DeletedEvents`."""
        self._unless_changed(tombstone, "delete")

    def deleted(self, before: datetime) -> Iterable[Tombstone]:
        """See `emptying.DeletedEvents`."""
        query = (
            self._client.collection("deletedEvents")
            .where(filter=FieldFilter("deletedAt", "<", before))
            .order_by("deletedAt")
            .limit(_TOMBSTONES)
        )
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        return [Tombstone(snapshot.id, snapshot.update_time) for snapshot in found]

    def page(self, event_id: str, after: str | None) -> Sequence[Orphan]:
        """See `emptying.DeletedEvents`."""
        query = types.StructuredQuery(
            select={"fields": [{"field_path": "__name__"}]},
            from_=[{"all_descendants": True}],  # of every collection, also where its parent is gone
            order_by=[{"field": {"field_path": "__name__"}}],
            limit=_PAGE,
        )
        if after is not None:
            last = types.Value(reference_value=after)
            query.start_at = types.Cursor(values=[last], before=False)
        parent = f"{self._database}/documents/events/{event_id}"
        answers = self._api.run_query(
            request={"parent": parent, "structured_query": query},
            retry=RETRY,
            timeout=CALL_SECONDS,
            metadata=self._metadata,
        )
        found = [answer.document for answer in answers if answer.document.name]
        return [
            Orphan(document.name, document.create_time, document.update_time) for document in found
        ]

    def created(self, event_id: str) -> datetime | None:
        """See `emptying.DeletedEvents`."""
        event = self._client.document(self._names.event_path(event_id))
        found = event.get(["tenantId"], retry=RETRY, timeout=CALL_SECONDS)
        created: datetime | None = found.create_time
        return created

    def delete(self, orphans: Sequence[Orphan]) -> None:
        """See `emptying.DeletedEvents`."""
        writes = [
            types.Write(
                delete=orphan.path, current_document=types.Precondition(update_time=orphan.version)
            )
            for orphan in orphans
        ]
        self._api.batch_write(
            request={"database": self._database, "writes": writes},
            retry=RETRY,
            timeout=CALL_SECONDS,
            metadata=self._metadata,
        )

    def _tombstone(self, event_id: str) -> firestore.DocumentReference:
        return self._client.collection("deletedEvents").document(event_id)

    def _unless_changed(self, tombstone: Tombstone, method: str, *fields: Any) -> None:
        option = self._client.write_option(last_update_time=tombstone.version)
        write = getattr(self._tombstone(tombstone.event_id), method)
        try:
            write(*fields, option=option, retry=RETRY, timeout=CALL_SECONDS)
        except (exceptions.FailedPrecondition, exceptions.NotFound):
            return  # the writer goes on
