"""Deliveries in Firestore: `events/{eventId}/deliveries/{deliveryId}` (design 4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Create, Documents, Update
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.gcp.firestore import client as shared_client
from functions.gcp.group_commit import GroupCommit
from functions.records import AlreadyRecordedError, ChangedMeanwhileError, Version
from functions.webhooks.deliveries.delivery import (
    KEPT_FOR,
    Attempt,
    Cursor,
    Delivery,
    Ended,
    EndedWithin,
    Outcome,
    Place,
    SentTo,
)
from functions.webhooks.deliveries.ports import StoredDelivery
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.milestone import Milestone

_SWEEP_PAGE: Final = 300
_GROUP: Final = 100
_LATEST_FIRST: Final = firestore.Query.DESCENDING


class DeliveryStore:
    """See `ports.Deliveries`."""

    def __init__(
        self, documents: Documents, client: Callable[[], firestore.Client] = shared_client
    ) -> None:
        """`client` gives the library's client, for queries; an ordinary delivery makes no query."""
        self._client = client
        self._documents = documents
        # The reads and writes of all attempts in an instance go together.
        self._loads = GroupCommit(self._documents.get_all, at_most=_GROUP, seconds=CALL_SECONDS)
        self._updates = GroupCommit(
            self._documents.update_all, at_most=_GROUP, seconds=CALL_SECONDS
        )

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """See `ports.Deliveries`."""
        writes = [
            Create(_path(event_id, delivery.id), _document(delivery)) for delivery in deliveries
        ]
        writes += [
            Create(
                f"events/{event_id}/milestones/{milestone.number}",
                {"photoId": milestone.photo_id, "reachedAt": milestone.reached_at},
            )
            for milestone in milestones
        ]
        try:
            self._documents.create(writes)
        except exceptions.AlreadyExists as exists:
            raise AlreadyRecordedError from exists

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery]:
        """See `ports.Deliveries`."""
        ids = list(delivery_ids)
        found = self._documents.get_all([_path(event_id, delivery_id) for delivery_id in ids])
        return {
            delivery_id: _delivery(event_id, delivery_id, document.fields)
            for delivery_id, document in zip(ids, found, strict=True)
            if document
        }

    def load(self, event_id: str, delivery_id: str) -> StoredDelivery | None:
        """See `ports.Deliveries`."""
        found = self._loads(_path(event_id, delivery_id))
        if found is None:
            return None
        return StoredDelivery(_delivery(event_id, delivery_id, found.fields), found.version)

    def save(self, delivery: Delivery, version: Version) -> None:
        """See `ports.Deliveries`."""
        applying = {"begun": delivery.begun, "slow": delivery.slow}
        fields = _progress(delivery) | {name: value for name, value in applying.items() if value}
        cleared = [name for name, value in applying.items() if not value]
        self._update(Update(_path_of(delivery), fields, version, delete=cleared))

    def restart(self, delivery: Delivery, version: Version) -> None:
        """See `ports.Deliveries`."""
        begun = delivery.next_attempt_at or delivery.created_at
        fields = _progress(delivery) | {"round": delivery.round, "expireAt": begun + KEPT_FOR}
        self._update(
            Update(_path_of(delivery), fields, version, delete=("reason", "begun", "slow"))
        )

    def ended(
        self, event_id: str, wanted: EndedWithin, after: Cursor | None, limit: int
    ) -> Sequence[StoredDelivery]:
        """See `ports.Deliveries`."""
        query = self._ended_within(event_id, wanted).order_by("__name__").limit(limit)
        if after is not None:
            place = {
                "endedAt": after.ended_at,
                "__name__": self._reference(event_id, after.delivery_id),
            }
            query = query.start_after(place)
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        return [
            StoredDelivery(_found(snapshot), snapshot.update_time.timestamp_pb())
            for snapshot in found
        ]

    def count_ended(self, event_id: str, wanted: EndedWithin) -> int:
        """See `ports.Deliveries`; each thousand counted costs as much as the read of a document."""
        query: Any = self._ended_within(event_id, wanted)
        return int(query.count().get(retry=RETRY, timeout=CALL_SECONDS)[0][0].value)

    def _ended_within(self, event_id: str, wanted: EndedWithin) -> firestore.Query:
        query = self._deliveries(event_id).where(
            filter=FieldFilter("outcome", "in", list(wanted.outcomes))
        )
        if wanted.url is not None:
            query = query.where(filter=FieldFilter("url", "==", wanted.url))
        if wanted.event_type is not None:
            query = query.where(filter=FieldFilter("event", "==", wanted.event_type))
        if wanted.tests_only:
            query = query.where(filter=FieldFilter("test", "==", value=True))
        return (
            query.where(filter=FieldFilter("endedAt", ">=", wanted.since))
            .where(filter=FieldFilter("endedAt", "<=", wanted.until))
            .order_by("endedAt")
        )

    def newest(
        self, event_id: str, wanted: SentTo, after: Place | None, limit: int
    ) -> Iterator[Delivery]:
        """See `ports.Deliveries`."""
        query = self._sent_to(event_id, wanted.url)
        if wanted.outcome is not None:
            query = query.where(filter=FieldFilter("outcome", "==", wanted.outcome))
        if wanted.event_type is not None:
            query = query.where(filter=FieldFilter("event", "==", wanted.event_type))
        query = query.order_by("createdAt", direction=_LATEST_FIRST)
        query = query.order_by("__name__", direction=_LATEST_FIRST).limit(limit)
        if after is not None:
            place = {
                "createdAt": after.created_at,
                "__name__": self._reference(event_id, after.delivery_id),
            }
            query = query.start_after(place)
        yield from map(_found, query.stream(retry=RETRY, timeout=CALL_SECONDS))

    def last_success(self, event_id: str, url: str) -> datetime | None:
        """See `ports.Deliveries`."""
        query = self._ended(event_id, url, Outcome.SUCCESS).select(["endedAt"]).limit(1)
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        return found[0].get("endedAt") if found else None

    def has_failed_within(self, event_id: str, url: str, after: datetime, until: datetime) -> bool:
        """See `ports.Deliveries`."""
        query = self._failed(event_id, url, after).where(filter=FieldFilter("endedAt", "<=", until))
        found = query.select([]).limit(1).get(retry=RETRY, timeout=CALL_SECONDS)
        return bool(found)

    def count_failed(self, event_id: str, url: str, after: datetime, at_most: int) -> int:
        """See `ports.Deliveries`."""
        query: Any = self._failed(event_id, url, after).limit(at_most)
        return int(query.count().get(retry=RETRY, timeout=CALL_SECONDS)[0][0].value)

    def last_ended(
        self, event_id: str, url: str, outcomes: Iterable[Outcome], limit: int
    ) -> Sequence[Ended]:
        """See `ports.Deliveries`."""
        query = (
            self._sent_to(event_id, url)
            .where(filter=FieldFilter("outcome", "in", list(outcomes)))
            .order_by("endedAt", direction=_LATEST_FIRST)
            .select(["outcome", "endedAt", "test", "log"])
            .limit(limit)
        )
        return [_ended(snapshot) for snapshot in query.get(retry=RETRY, timeout=CALL_SECONDS)]

    def first_failure(self, event_id: str, url: str, after: datetime | None) -> datetime | None:
        """See `ports.Deliveries`."""
        query = (
            self._sent_to(event_id, url)
            .where(filter=FieldFilter("outcome", "==", Outcome.FAILED))
            .order_by("endedAt")
        )
        if after is not None:
            query = query.where(filter=FieldFilter("endedAt", ">", after))
        found = query.select(["endedAt"]).limit(1).get(retry=RETRY, timeout=CALL_SECONDS)
        return found[0].get("endedAt") if found else None

    def _failed(self, event_id: str, url: str, after: datetime) -> firestore.Query:
        return self._ended(event_id, url, Outcome.FAILED).where(
            filter=FieldFilter("endedAt", ">", after)
        )

    def _ended(self, event_id: str, url: str, outcome: Outcome) -> firestore.Query:
        # Latest first in every query: one index serves them all.
        return (
            self._sent_to(event_id, url)
            .where(filter=FieldFilter("outcome", "==", outcome))
            .order_by("endedAt", direction=_LATEST_FIRST)
        )

    def _sent_to(self, event_id: str, url: str) -> firestore.Query:
        return self._deliveries(event_id).where(filter=FieldFilter("url", "==", url))

    def _deliveries(self, event_id: str) -> firestore.CollectionReference:
        deliveries: firestore.CollectionReference = self._client().collection(
            "events", event_id, "deliveries"
        )
        return deliveries

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """See `ports.Deliveries`."""
        query = (
            self._client()
            .collection_group("deliveries")
            .where(filter=FieldFilter("nextAttemptAt", "<", before))
            .order_by("nextAttemptAt")
            .limit(_SWEEP_PAGE)
        )
        page: Sequence[firestore.DocumentSnapshot[Any]] = query.get(
            retry=RETRY, timeout=CALL_SECONDS
        )
        while page:
            yield from map(_found, page)
            page = query.start_after(page[-1]).get(retry=RETRY, timeout=CALL_SECONDS)

    def _update(self, write: Update) -> None:
        try:
            RETRY(self._updates)(write)
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed

    def _reference(self, event_id: str, delivery_id: str) -> firestore.DocumentReference:
        return self._client().document(_path(event_id, delivery_id))


def _path(event_id: str, delivery_id: str) -> str:
    return f"events/{event_id}/deliveries/{delivery_id}"


def _path_of(delivery: Delivery) -> str:
    return _path(delivery.event_id, delivery.id)


def _progress(delivery: Delivery) -> dict[str, Any]:
    return {
        "outcome": delivery.outcome,
        "attempts": delivery.attempts,
        "nextAttemptAt": delivery.next_attempt_at,
        "endedAt": delivery.ended_at,
        "log": [
            {
                "attempt": attempt.number,
                "at": attempt.at,
                "status": attempt.status,
                "ms": attempt.milliseconds,
                "error": attempt.error,
            }
            | ({"round": attempt.round} if attempt.round else {})
            | ({"answer": attempt.answer} if attempt.answer else {})
            for attempt in delivery.log
        ],
    }


def _document(delivery: Delivery) -> dict[str, Any]:
    fields = {
        "event": delivery.event_type,
        "url": delivery.url,
        "body": delivery.body,
        "createdAt": delivery.created_at,
        "expireAt": delivery.expire_at,
        **_progress(delivery),
    }
    if delivery.reason:
        fields["reason"] = delivery.reason
    if delivery.test:
        fields["test"] = True
    if delivery.written_at:
        fields["writtenAt"] = delivery.written_at
    return fields


def _found(snapshot: firestore.DocumentSnapshot[Any]) -> Delivery:
    event_id = snapshot.reference.parent.parent.id
    return _delivery(event_id, snapshot.id, snapshot.to_dict() or {})


def _ended(snapshot: firestore.DocumentSnapshot[Any]) -> Ended:
    fields = snapshot.to_dict() or {}
    last = (fields.get("log") or [{}])[-1]
    return Ended(
        outcome=Outcome(fields["outcome"]),
        at=fields["endedAt"],
        test=fields.get("test", False),
        status=last.get("status"),
        error=last.get("error"),
    )


def _delivery(event_id: str, delivery_id: str, fields: Mapping[str, Any]) -> Delivery:
    return Delivery(
        id=delivery_id,
        event_id=event_id,
        event_type=EventType(fields["event"]),
        url=fields["url"],
        body=fields["body"],
        created_at=fields["createdAt"],
        outcome=Outcome(fields["outcome"]),
        attempts=fields["attempts"],
        next_attempt_at=fields["nextAttemptAt"],
        log=tuple(
            Attempt(
                number=entry["attempt"],
                at=entry["at"],
                status=entry["status"],
                milliseconds=entry["ms"],
                error=entry["error"],
                round=entry.get("round", 0),
                answer=entry.get("answer"),
            )
            for entry in fields["log"]
        ),
        reason=fields.get("reason"),
        round=fields.get("round", 0),
        ended_at=fields.get("endedAt"),
        test=fields.get("test", False),
        begun=fields.get("begun", 0),
        written_at=fields.get("writtenAt"),
        slow=fields.get("slow", False),
    )
