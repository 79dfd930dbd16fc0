"""What is recorded of endpoints that fail: `events/{eventId}/endpoints/{id}`, and deliveries."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from functions.firestore.model import (
    ChangedMeanwhileError,
    Create,
    Delete,
    Document,
    Documents,
    Query,
    Update,
    readable,
    time,
)
from functions.webhooks.deliveries.delivery import EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.endpoints.failing_endpoint import (
    FAILING_FOR,
    FAILURES_TO_DISABLE,
    Check,
    FailingEndpoint,
    Latest,
    Standing,
)
from functions.webhooks.webhook_settings import WebhookSettings

DUE_AT_MOST: Final = 20_000
"""Records that one sweep reads, the longest due first."""

_RECORDS_OF_AN_EVENT: Final = 100
"""Records that are read of an event, which has 20 endpoints and may have had others."""


@dataclass(frozen=True, slots=True)
class EndpointStore:
    """Reads and writes the records; every method but `note_failure` is one call.

    A record that cannot be read is passed over (`readable`).
    """

    documents: Documents

    def of_event(self, event_id: str) -> Sequence[FailingEndpoint]:
        """The records of an event."""
        records = Query(collection=f"events/{event_id}/endpoints", limit=_RECORDS_OF_AN_EVENT)
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

    def note_failure(self, record: FailingEndpoint) -> None:
        """Write that a delivery has failed, so that the next sweep checks the endpoint.

        `record` is the first record of the endpoint; what the sweep has written stays.

        Raises:
            ChangedMeanwhileError: the record has come or gone meanwhile.
        """
        found = self.documents.get(_path(record))
        if found is None:
            self.documents.commit(Create(_path(record), _fields(record)))
            return
        due_at = min(record.due_at, time(found.fields.get("dueAt")) or record.due_at)
        noted = {"failedAt": record.failed_at, "dueAt": due_at}
        self.documents.commit(Update(found.path, noted))

    def save(self, record: FailingEndpoint) -> FailingEndpoint:
        """Write what a check has changed; the record in its new version.

        Raises:
            ChangedMeanwhileError: the record was written since it was read, or is gone.
        """
        update = Update(_path(record), _fields(record), version=record.version)
        [written] = self.documents.commit(update)
        return replace(record, version=written.version)

    def note_notice(self, record: FailingEndpoint, standing: Standing, now: datetime) -> None:
        """Write that people were notified of `standing`, unless the record is gone."""
        told = {"told": None if standing is Standing.RECOVERED else standing, "toldAt": now}
        with suppress(ChangedMeanwhileError):
            self.documents.commit(Update(_path(record), told))

    def forget(self, record: FailingEndpoint) -> None:
        """Delete the record, unless it was written since it was read."""
        with suppress(ChangedMeanwhileError):
            self.documents.commit(Delete(_path(record), record.version))


def _path(record: FailingEndpoint) -> str:
    return f"events/{record.event_id}/endpoints/{record.id}"


_NAMES: Final = {
    "tenant_id": "tenantId",
    "url": "url",
    "since": "since",
    "failed_at": "failedAt",
    "due_at": "dueAt",
    "reported": "told",
    "reported_at": "toldAt",
    "resent_until": "resentUntil",
}
"""The fields of the document, by the attributes of `FailingEndpoint`."""


def _fields(record: FailingEndpoint) -> dict[str, Any]:
    return {name: getattr(record, attribute) for attribute, name in _NAMES.items()}


def _read(document: Document) -> FailingEndpoint:
    *_, event_id, _, endpoint_id = document.path.split("/")
    known = {attribute: document.fields[name] for attribute, name in _NAMES.items()}
    known["reported"] = known["reported"] and Standing(known["reported"])
    return FailingEndpoint(event_id=event_id, id=endpoint_id, version=document.version, **known)


def check_endpoint(
    record: FailingEndpoint, settings: WebhookSettings, deliveries: DeliveryStore, now: datetime
) -> Check | None:
    """The check of a recorded endpoint; None where the settings have it no more."""
    endpoint = settings.by_id.get(record.id)
    if endpoint is None:
        return None
    present, has_people = record.of(endpoint, now), bool(settings.notify)
    check = Check(record=present, endpoint=endpoint, has_people=has_people, now=now)
    return replace(check, latest=_latest(deliveries, check))


def _latest(deliveries: DeliveryStore, check: Check) -> Latest:
    """The latest deliveries to the endpoint, as far as anything can follow from them.

    One read; a second one where people are to be notified, or where it has failed for five days,
    and two more where it fails.
    """
    record, now = check.record, check.now
    success = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    acknowledged = success.ended_at if success else None
    since = max(record.since, acknowledged or record.since)
    is_old = now - since >= FAILING_FOR
    if check.endpoint.disabled or not (check.has_people or is_old):
        return Latest(acknowledged_at=acknowledged)
    failed = EndedWithin(since=since, until=now, outcomes=(Outcome.FAILED,), endpoints=(record.id,))
    failures = deliveries.count_ended(record.event_id, failed)
    if failures:
        failures -= deliveries.count_ended(record.event_id, replace(failed, tests_only=True))
    if not is_old or failures < FAILURES_TO_DISABLE:
        return Latest(acknowledged_at=acknowledged, failures=failures)
    first = deliveries.ended(record.event_id, failed, None, 1)
    meanwhile = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    if meanwhile and meanwhile.ended_at != acknowledged:  # during the count, which it has ended
        return Latest(acknowledged_at=meanwhile.ended_at)
    return Latest(
        acknowledged_at=acknowledged,
        failures=failures,
        has_failed_for_long=bool(first) and now - first[0].end.at >= FAILING_FOR,
    )
