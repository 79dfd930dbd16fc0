"""A delivery: one notification of one event to one URL (SPEC 2.5), and how an attempt changes it.

created ──▶ skipped                        the URL is unusable
        └─▶ pending ──▶ success            2xx
                    └─▶ retrying ──▶ …     anything else, and a rung is left
                                 └─▶ failed
"""

import json
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Self

from functions.timestamps import wire_time
from functions.webhooks.catalogue import EventType
from functions.webhooks.destination import Destination, UnusableUrlError
from functions.webhooks.ladder import LADDER, rung
from functions.webhooks.payloads import Payload

KEPT_FOR: Final = timedelta(days=30)
"""How long a delivery stays on record; Firestore's TTL policy deletes it after `expire_at`."""

_NAMESPACE: Final = uuid.UUID("6f2b8a52-0c5d-5d7e-9a0e-6d1f4f0b7c11")


class Outcome(StrEnum):
    """Where a delivery stands (SPEC 3.4 and 7.3)."""

    PENDING = "pending"
    RETRYING = "retrying"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def is_open(self) -> bool:
        """Whether an attempt is still owed."""
        return self in (Outcome.PENDING, Outcome.RETRYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One POST and how it went: the HTTP `status`, or else the `error` that left none.

    `at` is when it began, `milliseconds` how long it took.
    """

    number: int
    at: datetime
    status: int | None
    milliseconds: int
    error: str | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether the receiver answered 2xx (SPEC 4.3)."""
        return self.status is not None and 200 <= self.status <= 299  # noqa: PLR2004 - it is 2xx


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The record of a delivery, `events/{event_id}/deliveries/{id}`.

    `body` is the JSON text that every attempt sends, byte for byte. `next_attempt_at` is None once
    the outcome is final. `reason` says why a delivery was skipped.
    """

    id: str
    event_id: str
    event: EventType
    url: str
    body: str
    created_at: datetime
    outcome: Outcome
    attempts: int = 0
    next_attempt_at: datetime | None = None
    log: tuple[Attempt, ...] = ()
    reason: str | None = None

    @classmethod
    def create(
        cls,
        *,
        cause: str,
        event_id: str,
        event: EventType,
        url: str,
        data: Payload,
        now: datetime,
    ) -> Self:
        """A new delivery, due at once, or skipped where `url` is unusable.

        `cause` is what happened, under a name that stays the same however often it is looked at:
        with the event type and the URL it makes the delivery's id.
        """
        delivery_id = str(uuid.uuid5(_NAMESPACE, f"{cause}\n{event}\n{url}"))
        try:
            Destination.parse(url)
            reason = None
        except UnusableUrlError as unusable:
            reason = str(unusable)
        body = {
            "event": event,
            "eventId": event_id,
            "deliveryId": delivery_id,
            "timestamp": wire_time(now),
            "data": data,
        }
        return cls(
            id=delivery_id,
            event_id=event_id,
            event=event,
            url=url,
            body=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
            created_at=now,
            outcome=Outcome.SKIPPED if reason else Outcome.PENDING,
            next_attempt_at=None if reason else now,
            reason=reason,
        )

    @property
    def expire_at(self) -> datetime:
        """When the record may be deleted."""
        return self.created_at + KEPT_FOR

    @property
    def is_untried(self) -> bool:
        """Whether the first attempt is still owed."""
        return self.outcome is Outcome.PENDING and self.attempts == 0

    @property
    def due_attempt(self) -> int:
        """Number of the attempt that is owed next."""
        return self.attempts + 1

    def after(self, attempt: Attempt) -> Self:
        """The record once `attempt` has been made (the table of SPEC 3.4)."""
        made = replace(self, attempts=max(self.attempts, attempt.number), log=(*self.log, attempt))
        if attempt.acknowledged:
            return replace(made, outcome=Outcome.SUCCESS, next_attempt_at=None)
        if attempt.number >= len(LADDER):
            return replace(made, outcome=Outcome.FAILED, next_attempt_at=None)
        ended = attempt.at + timedelta(milliseconds=attempt.milliseconds)
        return replace(
            made,
            outcome=Outcome.RETRYING,
            next_attempt_at=ended + rung(attempt.number + 1).delay,
        )
