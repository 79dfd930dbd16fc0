"""Deliveries in Firestore: `events/{eventId}/deliveries/{deliveryId}` (DESIGN 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.webhooks.catalogue import EventType
from functions.webhooks.delivery import Attempt, Delivery, Outcome
from functions.webhooks.occurrence import Milestone

_SWEEP_PAGE: Final = 300


class AlreadyRecordedError(Exception):
    """One of the documents to create exists; none was written."""


class ChangedMeanwhileError(Exception):
    """The delivery is no longer as it was read, or is gone; nothing was written."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A delivery as it was read, with the version that a save of it must still find."""

    delivery: Delivery
    version: Any


class DeliveryStore:
    """Reads and writes of deliveries; every method but `overdue` is one round trip."""

    def __init__(self, client: firestore.Client) -> None:
        self._client = client

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """Record all of them in one commit, or none.

        Raises:
            AlreadyRecordedError: one of them is on record.
        """
        batch = self._client.batch()
        for delivery in deliveries:
            batch.create(self._reference(event_id, delivery.id), _document(delivery))
        event = self._client.collection("events").document(event_id)
        for one in milestones:
            batch.create(
                event.collection("milestones").document(str(one.number)),
                {"photoId": one.photo_id, "reachedAt": one.reached_at},
            )
        try:
            batch.commit(retry=RETRY, timeout=CALL_SECONDS)
        except exceptions.AlreadyExists as exists:
            raise AlreadyRecordedError from exists

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery]:
        """Those of the deliveries that are on record, by id."""
        references = [self._reference(event_id, one) for one in delivery_ids]
        found = self._client.get_all(references, retry=RETRY, timeout=CALL_SECONDS)
        return {one.id: _delivery(one) for one in found if one.exists}

    def load(self, event_id: str, delivery_id: str) -> Stored | None:
        """The delivery as it is now; None where there is none (any more)."""
        snapshot = self._reference(event_id, delivery_id).get(retry=RETRY, timeout=CALL_SECONDS)
        return Stored(_delivery(snapshot), snapshot.update_time) if snapshot.exists else None

    def save(self, delivery: Delivery, version: Any) -> None:
        """Write what an attempt has changed.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """
        try:
            self._reference(delivery.event_id, delivery.id).update(
                _progress(delivery),
                option=self._client.write_option(last_update_time=version),
                retry=RETRY,
                timeout=CALL_SECONDS,
            )
        except (exceptions.FailedPrecondition, exceptions.NotFound) as changed:
            raise ChangedMeanwhileError from changed

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """Every delivery of every event whose next attempt was due `before` that moment."""
        query = (
            self._client.collection_group("deliveries")
            .where(filter=FieldFilter("nextAttemptAt", "<", before))
            .order_by("nextAttemptAt")
            .limit(_SWEEP_PAGE)
        )
        page: Sequence[firestore.DocumentSnapshot[Any]] = query.get(
            retry=RETRY, timeout=CALL_SECONDS
        )
        while page:
            yield from map(_delivery, page)
            page = query.start_after(page[-1]).get(retry=RETRY, timeout=CALL_SECONDS)

    def _reference(self, event_id: str, delivery_id: str) -> firestore.DocumentReference:
        return self._client.document("events", event_id, "deliveries", delivery_id)


def _progress(delivery: Delivery) -> dict[str, Any]:
    return {
        "outcome": delivery.outcome,
        "attempts": delivery.attempts,
        "nextAttemptAt": delivery.next_attempt_at,
        "log": [
            {
                "attempt": one.number,
                "at": one.at,
                "status": one.status,
                "ms": one.milliseconds,
                "error": one.error,
            }
            for one in delivery.log
        ],
    }


def _document(delivery: Delivery) -> dict[str, Any]:
    fields = {
        "event": delivery.event,
        "url": delivery.url,
        "body": delivery.body,
        "createdAt": delivery.created_at,
        "expireAt": delivery.expire_at,
        **_progress(delivery),
    }
    return fields | ({"reason": delivery.reason} if delivery.reason else {})


def _delivery(snapshot: firestore.DocumentSnapshot[Any]) -> Delivery:
    fields = snapshot.to_dict() or {}
    return Delivery(
        id=snapshot.id,
        event_id=snapshot.reference.parent.parent.id,
        event=EventType(fields["event"]),
        url=fields["url"],
        body=fields["body"],
        created_at=fields["createdAt"],
        outcome=Outcome(fields["outcome"]),
        attempts=fields["attempts"],
        next_attempt_at=fields["nextAttemptAt"],
        log=tuple(
            Attempt(
                number=one["attempt"],
                at=one["at"],
                status=one["status"],
                milliseconds=one["ms"],
                error=one["error"],
            )
            for one in fields["log"]
        ),
        reason=fields.get("reason"),
    )
