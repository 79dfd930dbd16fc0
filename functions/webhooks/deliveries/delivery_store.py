"""Deliveries in Firestore: `events/{eventId}/deliveries/{deliveryId}` (design 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from functions.firestore.model import (
    Condition,
    Create,
    Document,
    Documents,
    Query,
    Update,
    read_or_none,
    readable,
)
from functions.webhooks.deliveries.delivery import (
    KEPT_FOR,
    Attempt,
    Cursor,
    Delivery,
    EndedWithin,
    Outcome,
)
from functions.webhooks.events import EventType, Milestone
from functions.webhooks.webhook_settings import endpoint_id

NEWEST_AT_MOST: Final = 50
"""Maximum number of deliveries in one page of the newest deliveries."""

_LAST_AT_MOST: Final = 10
"""Maximum number of records to try for the last delivery, if the latest records are invalid."""

_OPTIONAL: Final = ("reason", "round", "begun", "slow")
"""Changing fields that a record omits while they are empty, zero or false."""


@dataclass(frozen=True, slots=True)
class DeliveryStore:
    """Store of the deliveries. Every method except `overdue` is one call to Firestore.

    Queries skip invalid records (see `readable`), and `load` raises their error. Creating a record
    that exists raises `AlreadyRecordedError`. Saving a record whose version has changed raises
    `ChangedMeanwhileError`.
    """

    documents: Documents
    sweep_page: int = 300
    """Number of overdue deliveries that one call reads."""

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """Record all deliveries and milestones in one atomic commit."""
        self.documents.commit(
            *(Create(_path(event_id, delivery.id), _document(delivery)) for delivery in deliveries),
            *(
                Create(
                    f"events/{event_id}/milestones/{milestone.number}",
                    {"photoId": milestone.photo_id, "reachedAt": milestone.reached_at},
                )
                for milestone in milestones
            ),
        )

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery | None]:
        """Return the recorded deliveries by ID, with None for invalid records."""
        paths = [_path(event_id, delivery_id) for delivery_id in delivery_ids]
        found = filter(None, self.documents.get_all(paths))
        return {document.id: read_or_none(document, read_delivery) for document in found}

    def load(self, event_id: str, delivery_id: str) -> Delivery | None:
        """Return the current record of the delivery, or None if it does not exist."""
        found = self.documents.get(_path(event_id, delivery_id))
        return read_delivery(found) if found else None

    def save(self, delivery: Delivery) -> None:
        """Write the result of an attempt."""
        self._update(delivery, {})

    def move(self, delivery: Delivery) -> None:
        """Write the new URL of the due attempt."""
        self._update(delivery, _target(delivery))

    def restart(self, delivery: Delivery) -> None:
        """Write a redelivery and extend the record's retention to that of a new delivery."""
        first_due = delivery.next_attempt_at or delivery.created_at
        self._update(delivery, _target(delivery) | {"expireAt": first_due + KEPT_FOR})

    def _update(self, delivery: Delivery, also: dict[str, Any]) -> None:
        path, present = _path(delivery.event_id, delivery.id), _changing(delivery)
        gone = [name for name in _OPTIONAL if name not in present]
        self.documents.commit(Update(path, present | also, delete=gone, version=delivery.version))

    def ended(
        self, event_id: str, selected: EndedWithin, after: Cursor | None, limit: int
    ) -> Sequence[Delivery]:
        """Return a page of the `selected` deliveries, sorted by their end."""
        cursor = (after.at, _path(event_id, after.delivery_id)) if after else ()
        page = replace(_ended_within(event_id, selected), after=cursor, limit=limit)
        return list(islice(readable(self.documents.find_all(page), read_delivery), limit))

    def count_ended(self, event_id: str, selected: EndedWithin) -> int:
        """Count the `selected` deliveries without reading them."""
        return self.documents.count(_ended_within(event_id, selected))

    def newest(
        self,
        event_id: str,
        endpoints: Sequence[str],
        outcome: Outcome | None,
        event_type: EventType | None,
        after: Cursor | None,
    ) -> Iterator[tuple[Cursor, Delivery | None]]:
        """Stream at most `NEWEST_AT_MOST` deliveries to an endpoint, newest first.

        Args:
            event_id: ID of the event.
            endpoints: Names of the endpoint.
            outcome: Select only deliveries with this outcome.
            event_type: Select only deliveries of this type.
            after: Cursor after which the page starts.

        Yields:
            The cursor that continues after a delivery, and the delivery, or None if its record is
            invalid.
        """
        page = Query(
            collection=_deliveries(event_id),
            where=[
                ("endpoint", "in", endpoints),
                *_equal(outcome=outcome, event=event_type),
            ],
            order=["-createdAt"],
            after=(after.at, _path(event_id, after.delivery_id)) if after else (),
            limit=NEWEST_AT_MOST,
        )
        for found in self.documents.stream(page):
            cursor = Cursor(found.fields["createdAt"], found.id)
            yield cursor, read_or_none(found, read_delivery)

    def last(self, event_id: str, endpoint: str, outcome: Outcome) -> Delivery | None:
        """Return the delivery to the endpoint that last ended with `outcome`, or None."""
        ended = Query(
            collection=_deliveries(event_id),
            where=_equal(endpoint=endpoint, outcome=outcome),
            order=["-endedAt"],
            limit=1,
        )
        found = islice(self.documents.find_all(ended), _LAST_AT_MOST)
        return next(readable(found, read_delivery), None)

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """Yield every delivery whose next attempt was due before a time, of all events.

        Each page of deliveries is one call. An app may have a collection `deliveries` of its own,
        which is skipped.
        """
        overdue = Query(
            collection="deliveries",
            group=True,
            where=[("nextAttemptAt", "<", before)],
            order=["nextAttemptAt"],
            limit=self.sweep_page,
        )
        own = (
            found
            for found in self.documents.find_all(overdue)
            if found.path == _path(found.path.split("/")[1], found.id)
        )
        yield from readable(own, read_delivery)


def _ended_within(event_id: str, selected: EndedWithin) -> Query:
    return Query(
        collection=_deliveries(event_id),
        where=[
            ("outcome", "in", selected.outcomes),
            *([("endpoint", "in", selected.endpoints)] if selected.endpoints else ()),
            *_equal(event=selected.event_type, test=selected.tests_only or None),
            ("endedAt", ">=", selected.since),
            ("endedAt", "<=", selected.until),
        ],
        order=["endedAt"],
    )


def _equal(**fields: Any) -> list[Condition]:
    """Return a condition for each field that is not None."""
    return [(name, "==", value) for name, value in fields.items() if value is not None]


def _deliveries(event_id: str) -> str:
    return f"events/{event_id}/deliveries"


def _path(event_id: str, delivery_id: str) -> str:
    return f"{_deliveries(event_id)}/{delivery_id}"


def _target(delivery: Delivery) -> dict[str, Any]:
    """Return the fields that change with the endpoint's URL and redeliveries, not with attempts."""
    fields: dict[str, Any] = {"url": delivery.url, "endpoint": delivery.endpoint}
    if delivery.url_round:
        fields["urlRound"] = delivery.url_round
    if delivery.url_attempt > 1 or delivery.url_round:
        fields["urlAttempt"] = delivery.url_attempt
    if delivery.settings_read_at:
        fields["settingsReadAt"] = delivery.settings_read_at
    return fields


def _changing(delivery: Delivery) -> dict[str, Any]:
    """Return the fields that attempts and redeliveries change."""
    optional = {name: getattr(delivery, name) for name in _OPTIONAL}
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
    } | {name: value for name, value in optional.items() if value}


def _document(delivery: Delivery) -> dict[str, Any]:
    fields = {
        "event": delivery.event_type,
        **_target(delivery),
        "body": delivery.body,
        "createdAt": delivery.created_at,
        "expireAt": delivery.created_at + KEPT_FOR,
        **_changing(delivery),
    }
    fixed = {"test": delivery.test, "writtenAt": delivery.written_at}
    return fields | {name: value for name, value in fixed.items() if value}


def read_delivery(document: Document) -> Delivery:
    """Parse the record of a delivery.

    Raises:
        Exception: A field is missing or invalid, for example in the record of a later release.
    """
    *_, event_id, _, delivery_id = document.path.split("/")
    fields = document.fields
    return Delivery(
        id=delivery_id,
        event_id=event_id,
        event_type=EventType(fields["event"]),
        url=fields["url"],
        endpoint=fields.get("endpoint") or endpoint_id(fields["url"]),
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
        url_round=fields.get("urlRound", 0),
        url_attempt=fields.get("urlAttempt", 1),
        settings_read_at=fields.get("settingsReadAt"),
        ended_at=fields.get("endedAt"),
        test=fields.get("test", False),
        begun=fields.get("begun", 0),
        written_at=fields.get("writtenAt"),
        slow=fields.get("slow", False),
        version=document.version,
    )
