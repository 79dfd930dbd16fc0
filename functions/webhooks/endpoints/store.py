"""Endpoints that fail in Firestore: `events/{eventId}/endpoints/{id}` (design 4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions.firestore.model import Create, Delete, Document, Documents, Query, Update
from functions.readable import readable
from functions.wall.fields import time
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint, Standing

DUE_AT_MOST: Final = 20_000
"""Records that one sweep reads, the longest due first."""

_OF_AN_EVENT: Final = 100


@dataclass(frozen=True, slots=True)
class EndpointStore:
    """Reads and writes the records; every method but `note_failure` is one call.

    A record that cannot be read is passed over (`readable`).
    `AlreadyRecordedError` where a new record exists; `ChangedMeanwhileError` where a record was
    written since it was read (`save`, `forget`), or is gone.
    """

    documents: Documents

    def of_event(self, event_id: str) -> Sequence[FailingEndpoint]:
        """The records of an event, which has 20 endpoints."""
        records = Query(collection=f"events/{event_id}/endpoints", limit=_OF_AN_EVENT)
        return list(readable(self.documents.find(records), _read))

    def due(self, now: datetime) -> Sequence[FailingEndpoint]:
        """The records of all events that are due, the longest due first."""
        due = Query(
            collection="endpoints",
            group=True,
            where=[("dueAt", "<=", now)],
            order=["dueAt"],
            limit=DUE_AT_MOST,
        )
        return list(readable(self.documents.find(due), _read))

    def create(self, record: FailingEndpoint) -> None:
        """Record the first failure."""
        fields = {"tenantId": record.tenant_id, **_fields(record), "failedAt": record.failed_at}
        self.documents.commit(Create(_path_of(record), fields))

    def note_failure(self, event_id: str, endpoint_id: str, now: datetime) -> bool:
        """Write that a further delivery has failed, so that the next sweep checks the endpoint.

        What the sweep writes meanwhile stays. False where there is no record.
        """
        path = _path(event_id, endpoint_id)
        found = self.documents.get(path)
        if found is None:
            return False
        due_at = min(now, time(found.fields.get("dueAt")) or now)
        self.documents.commit(Update(path, {"failedAt": now, "dueAt": due_at}))
        return True

    def save(self, record: FailingEndpoint) -> FailingEndpoint:
        """Write what a check has changed; the record in its new version."""
        update = Update(_path_of(record), _fields(record), version=record.version)
        [written] = self.documents.commit(update)
        return replace(record, version=written.version)

    def note_notice(self, record: FailingEndpoint) -> None:
        """Write what people were told."""
        fields = {"told": record.told, "toldAt": record.told_at}
        self.documents.commit(Update(_path_of(record), fields))

    def forget(self, record: FailingEndpoint) -> None:
        """Delete the record."""
        self.documents.commit(Delete(_path_of(record), record.version))


def _path(event_id: str, endpoint_id: str) -> str:
    return f"events/{event_id}/endpoints/{endpoint_id}"


def _path_of(record: FailingEndpoint) -> str:
    return _path(record.event_id, record.id)


def _fields(record: FailingEndpoint) -> dict[str, Any]:
    return {
        "url": record.url,
        "since": record.since,
        "dueAt": record.due_at,
        "told": record.told,
        "toldAt": record.told_at,
        "resentUntil": record.resent_until,
    }


def _read(document: Document) -> FailingEndpoint:
    *_, event_id, _, endpoint_id = document.path.split("/")
    fields = document.fields
    return FailingEndpoint(
        event_id=event_id,
        id=endpoint_id,
        tenant_id=fields["tenantId"],
        url=fields["url"],
        since=fields["since"],
        failed_at=fields["failedAt"],
        due_at=fields["dueAt"],
        told=fields["told"] and Standing(fields["told"]),
        told_at=fields["toldAt"],
        resent_until=fields["resentUntil"],
        version=document.version,
    )
