"""A delivery: one notification of one event to one URL (spec 2.5), and how an attempt changes it.

created ──▶ skipped                        the URL is unusable, or disabled
        └─▶ pending ──▶ success            2xx
                    └─▶ retrying ──▶ …     anything else, and an attempt is left
                                 └─▶ failed

What has ended can be sent again: the next round, from `pending` on, with the same id and body.
"""

import json
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Self

from functions.timestamps import wire_time
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE, step
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.messages.payloads import Payload

KEPT_FOR: Final = timedelta(days=30)
"""How long a delivery stays on record; Firestore's TTL policy deletes it after `expire_at`."""

LOG_KEPT: Final = 40
"""Attempts on record, the last ones: ten rounds."""

PROMPT: Final = timedelta(seconds=1)
"""A receiver that takes longer to answer is slow: its attempts have a queue of their own."""

_NAMESPACE: Final = uuid.UUID("6f2b8a52-0c5d-5d7e-9a0e-6d1f4f0b7c11")


class Outcome(StrEnum):
    """Where a delivery stands (spec 3.4 and 7.3)."""

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

    `at` is when it began, `milliseconds` how long it took. `round` is the delivery's at that time.
    `answer` is how the body of an answer began that was not 2xx; it decides nothing (spec 4.3).
    """

    number: int
    at: datetime
    status: int | None
    milliseconds: int
    error: str | None = None
    round: int = 0
    answer: str | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether the receiver answered 2xx (spec 4.3)."""
        return self.status is not None and 200 <= self.status <= 299  # noqa: PLR2004 - it is 2xx

    @property
    def was_slow(self) -> bool:
        """Whether it held its place for long, whatever it came to."""
        return timedelta(milliseconds=self.milliseconds) >= PROMPT

    def is_again(self, other: Self) -> bool:
        """Whether both are the same attempt of a delivery, made twice."""
        return (self.round, self.number) == (other.round, other.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The record of a delivery, `events/{event_id}/deliveries/{id}`.

    `body` is the JSON text that every attempt sends, byte for byte. `next_attempt_at` is None once
    the outcome is final, and `ended_at` is from then on when it became so. `reason` says why a
    delivery was skipped. `round` counts how often it was sent again; `attempts` are those of this
    round, `log` has those of all. `test` marks what an organizer sent to try a URL. `begun` counts
    how often the due attempt was put on record as begun, once its task had come in vain.
    `written_at` is when Firestore took the write that it tells of; a test tells of none. `slow`
    tells that the due attempt belongs on the slow queue.
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
    round: int = 0
    ended_at: datetime | None = None
    test: bool = False
    begun: int = 0
    written_at: datetime | None = None
    slow: bool = False

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
        disabled: str | None = None,
        test: bool = False,
        written_at: datetime | None = None,
    ) -> Self:
        """A new delivery, due at once.

        It is skipped where `url` is unusable or `disabled` says why.

        `cause` is what happened, under a name that stays the same however often it is looked at:
        with the event type and the URL it makes the delivery's id.
        """
        delivery_id = str(uuid.uuid5(_NAMESPACE, f"{cause}\n{event}\n{url}"))
        try:
            EndpointUrl.parse(url)
            reason = disabled
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
            ended_at=now if reason else None,
            test=test,
            written_at=written_at,
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

    def is_news(self, attempt: Attempt) -> bool:
        """Whether `attempt` changes the record although another one was recorded in its place.

        Only an acknowledgement does, and only the first: the receiver has the message, whatever
        the other one came to, the last of the schedule included. That of an earlier round counts
        as well, unless the round was begun although the delivery had been acknowledged.
        """
        return (
            attempt.acknowledged
            and self.outcome is not Outcome.SUCCESS
            and (attempt.round == self.round or not any(one.acknowledged for one in self.log))
        )

    @property
    def owed_since(self) -> datetime:
        """From when on the due attempt lags: the write, for the very first, else when it is due."""
        due = self.next_attempt_at or self.created_at
        if self.written_at and not self.attempts and not self.round and due <= self.created_at:
            return self.written_at
        return due

    def due_after(self, moment: datetime) -> Self:
        """The record where the due attempt waits until that `moment`, if it was due earlier."""
        if self.next_attempt_at is None or self.next_attempt_at >= moment:
            return self
        return replace(self, next_attempt_at=moment)

    def after(self, attempt: Attempt) -> Self:
        """The record once `attempt` has been made (the table of spec 3.4).

        An attempt that two tasks have made at once is one attempt: what it came to in the end is
        on record in the place of what stood there, so that a round never has more than four.
        """
        others = [one for one in self.log if not one.is_again(attempt)]
        made = replace(
            self,
            attempts=max(self.attempts, attempt.number if attempt.round == self.round else 0),
            log=(*others, attempt)[-LOG_KEPT:],
            begun=0,
            slow=False,
        )
        ended = attempt.at + timedelta(milliseconds=attempt.milliseconds)
        if attempt.acknowledged:
            return replace(made, outcome=Outcome.SUCCESS, next_attempt_at=None, ended_at=ended)
        if attempt.number >= len(RETRY_SCHEDULE):
            return replace(made, outcome=Outcome.FAILED, next_attempt_at=None, ended_at=ended)
        return replace(
            made,
            outcome=Outcome.RETRYING,
            next_attempt_at=ended + step(attempt.number + 1).delay,
            slow=attempt.was_slow,
        )

    def again(self, due: datetime) -> Self:
        """The record once an organizer has it sent again: four fresh attempts, the first one `due`.

        Raises:
            ValueError: an attempt is still owed.
            UnusableUrlError: no attempt can be made.
        """
        if self.outcome.is_open:
            raise ValueError("the delivery has not ended")
        EndpointUrl.parse(self.url)
        return replace(
            self,
            outcome=Outcome.PENDING,
            attempts=0,
            next_attempt_at=due,
            reason=None,
            round=self.round + 1,
            ended_at=None,
            begun=0,
            slow=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a delivery has ended, and when; `status` and `error` are those of its last attempt."""

    outcome: Outcome
    at: datetime
    test: bool = False
    status: int | None = None
    error: str | None = None


UNDELIVERED: Final = (Outcome.FAILED, Outcome.SKIPPED)
"""Outcomes of deliveries that the receiver has not got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithin:
    """Deliveries that ended in `[since, until]`, with one of `outcomes`.

    Those to `url` alone, and of the type `event` alone, where they are given; or tests alone.
    """

    since: datetime
    until: datetime
    outcomes: tuple[Outcome, ...] = UNDELIVERED
    url: str | None = None
    event: EventType | None = None
    tests_only: bool = False


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page of ended deliveries stopped, in the order of their ends."""

    ended_at: datetime
    delivery_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTo:
    """Deliveries to `url`; those of that outcome and type alone, where they are given."""

    url: str
    outcome: Outcome | None = None
    event: EventType | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of deliveries stopped, in the order of their creation."""

    created_at: datetime
    delivery_id: str
