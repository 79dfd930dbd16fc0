"""Store of failing endpoints, `events/{eventId}/endpoints/{id}`, with their failures and checks."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from functions import cache, ports
from functions.firestore.model import (
    ChangedMeanwhileError,
    Create,
    Delete,
    Document,
    Documents,
    Query,
    Update,
    as_time,
    readable,
)
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin, Outcome
from functions.webhooks.deliveries.delivery_store import DeliveryStore
from functions.webhooks.deliveries.fair_queue import Tenants
from functions.webhooks.endpoints.failing_endpoint import (
    FAILING_FOR,
    FAILURES_TO_DISABLE,
    NOTED_AGAIN,
    EndpointCheck,
    FailingEndpoint,
    NoticeState,
    RecentDeliveries,
)
from functions.webhooks.webhook_settings import WebhookSettings

DUE_AT_MOST: Final = 20_000
"""Maximum number of records that one sweep reads, longest due first."""

_RECORDS_OF_AN_EVENT: Final = 100
"""Maximum number of records to read for an event: 20 endpoints, and endpoints of the past."""


@dataclass(frozen=True, slots=True)
class EndpointStore:
    """Store of the records. Every method except `note_failure` is one call to Firestore.

    Invalid records are skipped (see `readable`).
    """

    documents: Documents

    def of_event(self, event_id: str) -> Sequence[FailingEndpoint]:
        """Return the records of an event."""
        records = Query(collection=f"events/{event_id}/endpoints", limit=_RECORDS_OF_AN_EVENT)
        return list(readable(self.documents.find(records), _read))

    def due(self, now: datetime) -> Sequence[FailingEndpoint]:
        """Return the due records of all events, longest due first.

        An app may have a collection `endpoints` of its own, which is skipped.
        """
        due = Query(
            collection="endpoints",
            group=True,
            where=[("dueAt", "<=", now)],
            order=["dueAt"],
            limit=DUE_AT_MOST,
        )
        own = (
            document
            for document in self.documents.find_all(due)
            if document.path == _path(document.path.split("/")[1], document.id)
        )
        return list(islice(readable(own, _read), DUE_AT_MOST))

    def note_failure(self, record: FailingEndpoint) -> None:
        """Record that a delivery has failed, so that the next sweep checks the endpoint.

        If the endpoint has no record, create `record`. Otherwise change only the time of the
        failure and the due time.

        Raises:
            ChangedMeanwhileError: The record was created or deleted concurrently.
        """
        found = self.documents.get(_path(record.event_id, record.id))
        if found is None:
            self.documents.commit(Create(_path(record.event_id, record.id), _fields(record)))
            return
        due_at = min(record.due_at, as_time(found.fields.get("dueAt")) or record.due_at)
        noted = {"failedAt": record.failed_at, "dueAt": due_at}
        self.documents.commit(Update(found.path, noted))

    def save(self, record: FailingEndpoint) -> FailingEndpoint:
        """Write the result of a check and return the record with its new version.

        Raises:
            ChangedMeanwhileError: The record was changed or deleted since it was read.
        """
        update = Update(_path(record.event_id, record.id), _fields(record), version=record.version)
        [written] = self.documents.commit(update)
        return replace(record, version=written.version)

    def note_notice(self, record: FailingEndpoint, state: NoticeState, now: datetime) -> None:
        """Record a notice of `state`, unless the record was deleted."""
        told = {"told": None if state is NoticeState.RECOVERED else state, "toldAt": now}
        with suppress(ChangedMeanwhileError):
            self.documents.commit(Update(_path(record.event_id, record.id), told))

    def forget(self, record: FailingEndpoint) -> None:
        """Delete the record, unless it has changed since it was read."""
        with suppress(ChangedMeanwhileError):
            self.documents.commit(Delete(_path(record.event_id, record.id), record.version))


def _path(event_id: str, endpoint_id: str) -> str:
    return f"events/{event_id}/endpoints/{endpoint_id}"


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
"""Field names of the document by attribute of `FailingEndpoint`."""


def _fields(record: FailingEndpoint) -> dict[str, Any]:
    return {name: getattr(record, attribute) for attribute, name in _NAMES.items()}


def _read(document: Document) -> FailingEndpoint:
    *_, event_id, _, endpoint_id = document.path.split("/")
    known = {attribute: document.fields[name] for attribute, name in _NAMES.items()}
    known["reported"] = known["reported"] and NoticeState(known["reported"])
    return FailingEndpoint(event_id=event_id, id=endpoint_id, version=document.version, **known)


@dataclass
class Failures:
    """Use case: record failures of endpoints. Shared by all threads of the process."""

    endpoints: EndpointStore
    tenants: Tenants
    clock: ports.Clock
    _noted: cache.TtlCache[tuple[str, str], bool] = field(init=False)

    def __post_init__(self) -> None:
        """Create an empty cache of recorded failures."""
        seconds = NOTED_AGAIN.total_seconds()
        self._noted = cache.TtlCache(self.clock, seconds=seconds)

    def note(self, delivery: Delivery) -> None:
        """Record that `delivery` has ended as `failed`, unless it is a test.

        Each endpoint has at most one write per minute.
        """
        key, began = (delivery.event_id, delivery.endpoint), self.clock.monotonic()
        if delivery.test or self._noted.get(key):
            return
        now = self.clock.now()
        record = FailingEndpoint(
            event_id=delivery.event_id,
            id=delivery.endpoint,
            tenant_id=self.tenants.of(delivery.event_id),
            url=delivery.url,
            # Other instances may record earlier failures later.
            since=(delivery.ended_at or now) - NOTED_AGAIN,
            failed_at=now,
            due_at=now,
        )
        while True:
            with suppress(ChangedMeanwhileError):
                self.endpoints.note_failure(record)
                break
        self._noted.put(key, value=True, since=began)


def check_endpoint(
    record: FailingEndpoint, settings: WebhookSettings, deliveries: DeliveryStore, now: datetime
) -> EndpointCheck | None:
    """Check a recorded endpoint. Return None if the settings no longer contain it."""
    endpoint = settings.by_id.get(record.id)
    if endpoint is None:
        return None
    present, has_people = record.of(endpoint, now), bool(settings.notify)
    check = EndpointCheck(record=present, endpoint=endpoint, has_people=has_people, now=now)
    return replace(check, latest=_latest(deliveries, check))


def _latest(deliveries: DeliveryStore, check: EndpointCheck) -> RecentDeliveries:
    """Return the latest deliveries to the endpoint, as far as the next action depends on them.

    The call costs one read, or two if there is someone to notify or the endpoint has failed for
    five days. A failing endpoint costs two more.
    """
    record, now = check.record, check.now
    success = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    acknowledged = success.ended_at if success else None
    since = max(record.since, acknowledged or record.since)
    is_old = now - since >= FAILING_FOR
    if check.endpoint.disabled or not (check.has_people or is_old):
        return RecentDeliveries(acknowledged_at=acknowledged)
    failed = EndedWithin(since=since, until=now, outcomes=(Outcome.FAILED,), endpoints=(record.id,))
    failures = deliveries.count_ended(record.event_id, failed)
    if failures:
        failures -= deliveries.count_ended(record.event_id, replace(failed, tests_only=True))
    if not is_old or failures < FAILURES_TO_DISABLE:
        return RecentDeliveries(acknowledged_at=acknowledged, failures=failures)
    first = deliveries.ended(record.event_id, failed, None, 1)
    meanwhile = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    if meanwhile and meanwhile.ended_at != acknowledged:  # acknowledged during the count
        return RecentDeliveries(acknowledged_at=meanwhile.ended_at)
    return RecentDeliveries(
        acknowledged_at=acknowledged,
        failures=failures,
        has_failed_for_long=bool(first) and now - first[0].cursor.at >= FAILING_FOR,
    )
