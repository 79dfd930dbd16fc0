"""Deliveries, each of one webhook message to one endpoint (spec 2.5), and their states.

created ──▶ skipped                        the URL is unusable, or disabled
        └─▶ pending ──▶ success            2xx
                    ├─▶ retrying ──▶ …     any other result, and the schedule has another attempt
                    │            └─▶ failed
                    └─▶ skipped            the endpoint was removed, disabled or unsubscribed

A delivery that has ended can be resent: the redelivery starts at `pending` with the same ID and
body. A round is a series of attempts. Round 0 has the first attempts. Redeliveries count from 1.
"""

import json
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Self

from functions.firestore.model import Version
from functions.ports import wire_time
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError, host_of
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, retry_step
from functions.webhooks.events import EventType, Payload

KEPT_FOR: Final = timedelta(days=30)
"""Retention of a delivery. Firestore's TTL policy deletes the record after `expireAt`."""

LOG_KEPT: Final = 40
"""Number of a delivery's latest attempts that stay in its record: ten rounds."""

SLOW_AFTER: Final = timedelta(seconds=1)
"""Response time from which a receiver is slow. Attempts at slow receivers have their own queue."""

SETTINGS_KEPT: Final = timedelta(seconds=5)
"""Maximum age of the webhook settings that an attempt relies on (spec 3.4)."""

ACKNOWLEDGING: Final = range(200, 300)
"""Statuses by which a receiver acknowledges a delivery (spec 4.3)."""

_NAMESPACE: Final = uuid.UUID("6f2b8a52-0c5d-5d7e-9a0e-6d1f4f0b7c11")


class Outcome(StrEnum):
    """Outcome of a delivery so far (spec 3.4 and 7.3)."""

    PENDING = "pending"
    RETRYING = "retrying"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def is_open(self) -> bool:
        """Whether an attempt is due, now or later."""
        return self in (Outcome.PENDING, Outcome.RETRYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One HTTP request to a receiver, with the `status` of the response or the `error`.

    Attributes:
        number: Number in its round, from 1.
        at: Start of the request.
        status: HTTP status of the response, or None without a response.
        milliseconds: Duration of the request.
        error: Why there was no response.
        round: Round of the delivery at that time.
        answer: Beginning of the body of a response that was not 2xx. Affects no decision (spec
            4.3).
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
        return self.status in ACKNOWLEDGING


@dataclass(frozen=True, slots=True)
class Cursor:
    """End of a page of deliveries: the last delivery and the time that sorts it."""

    at: datetime
    delivery_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The record of a delivery, `events/{event_id}/deliveries/{id}`.

    Attributes:
        url: URL of the due attempt and of the attempts in `attempts_at_url`.
        endpoint: ID of the endpoint. A redelivery goes to the endpoint's current URL.
        body: The JSON text that every attempt sends, byte for byte.
        next_attempt_at: Due time of the next attempt. None once the outcome is final.
        ended_at: Time at which the outcome became final.
        reason: Why the delivery was skipped.
        round: Number of redeliveries.
        url_round: First round that went to `url`. Earlier rounds went to another URL.
        url_attempt: First attempt of that round that went to `url`.
        settings_read_at: Time at which a redelivery read the webhook settings. None in round 0,
            which read them at `created_at`.
        attempts: Number of attempts in this round.
        log: Attempts of all rounds.
        test: Whether an organizer sent the delivery to test a URL.
        begun: How often the due attempt was recorded as started after its task had failed.
        written_at: Time of the Firestore write that caused the delivery. None for a test.
        slow: Whether the due attempt belongs on the slow queue.
        version: Version of the record when it was read. A save fails if the version has changed.
    """

    id: str
    event_id: str
    event_type: EventType
    url: str
    endpoint: str
    body: str
    created_at: datetime
    outcome: Outcome
    attempts: int = 0
    next_attempt_at: datetime | None = None
    log: tuple[Attempt, ...] = ()
    reason: str | None = None
    round: int = 0
    url_round: int = 0
    url_attempt: int = 1
    settings_read_at: datetime | None = None
    ended_at: datetime | None = None
    test: bool = False
    begun: int = 0
    written_at: datetime | None = None
    slow: bool = False
    version: Version | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Raise IndexError if the due attempt is not in the retry schedule."""
        if self.next_attempt_at:
            retry_step(self.due_attempt)

    @classmethod
    def create(
        cls,
        *,
        cause: str,
        event_id: str,
        event_type: EventType,
        url: str,
        endpoint: str,
        data: Payload,
        now: datetime,
        disabled: str | None = None,
        test: bool = False,
        written_at: datetime | None = None,
    ) -> Self:
        """Create a delivery that is due immediately.

        The delivery is skipped if `url` is unusable or `disabled` gives a reason. Its ID is derived
        from `cause`, event type and URL.

        Args:
            cause: Name of the write, milestone or guest. Must be the same each time a trigger runs.
            event_id: ID of the event.
            event_type: Type of the webhook message.
            url: URL of the endpoint.
            endpoint: ID of the endpoint.
            data: Payload of the body.
            now: Current time.
            disabled: Why the endpoint is disabled, or None.
            test: Whether an organizer tests the URL.
            written_at: Time of the Firestore write that is the cause.
        """
        delivery_id = str(uuid.uuid5(_NAMESPACE, f"{cause}\n{event_type}\n{url}"))
        try:
            EndpointUrl.parse(url)
            reason = disabled
        except UnusableUrlError as unusable:
            reason = str(unusable)
        body = {
            "event": event_type,
            "eventId": event_id,
            "deliveryId": delivery_id,
            "timestamp": wire_time(now),
            "data": data,
        }
        return cls(
            id=delivery_id,
            event_id=event_id,
            event_type=event_type,
            url=url,
            endpoint=endpoint,
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
    def host(self) -> str | None:
        """Host of the URL for log lines (see `host_of`)."""
        return host_of(self.url)

    @property
    def cursor(self) -> Cursor:
        """Cursor that continues a page of ended deliveries after this delivery."""
        return Cursor(self.ended_at or self.created_at, self.id)

    @property
    def is_untried(self) -> bool:
        """Whether the delivery has had no attempt yet."""
        return self.outcome is Outcome.PENDING and self.attempts == 0

    @property
    def due_attempt(self) -> int:
        """Number of the next attempt."""
        return self.attempts + 1

    @property
    def attempts_at_url(self) -> tuple[Attempt, ...]:
        """The attempts in the log that went to `url`."""
        first = (self.url_round, self.url_attempt)
        return tuple(made for made in self.log if (made.round, made.number) >= first)

    def needs_settings(self, now: datetime) -> bool:
        """Return whether the due attempt must read the webhook settings first.

        Every retry reads the settings, and so does a first attempt that is late.
        """
        read_at = self.settings_read_at or (None if self.round else self.created_at)
        return self.attempts > 0 or read_at is None or now - read_at > SETTINGS_KEPT

    def overrides_result(self, attempt: Attempt, url: str) -> bool:
        """Return whether `attempt` at `url` overrides the result that is recorded in its place.

        Only the first acknowledgement does, because the receiver has the message even if another
        attempt failed. An acknowledgement of an earlier round counts unless that round went to
        another URL, or the receiver had acknowledged the delivery before that round began.
        """
        return (
            attempt.acknowledged
            and self.outcome is not Outcome.SUCCESS
            and url == self.url
            and attempt.round >= self.url_round
            and (attempt.round == self.round or not any(made.acknowledged for made in self.log))
        )

    @property
    def lag_from(self) -> datetime:
        """Time from which the lag of the due attempt counts.

        The write for the first attempt of a delivery that is due immediately, else the due time.
        """
        due = self.next_attempt_at or self.created_at
        if self.written_at and not self.attempts and due <= self.created_at:
            return self.written_at
        return due

    def due_after(self, moment: datetime) -> Self:
        """Return the record with the due attempt postponed to `moment`, unless it is due later."""
        if self.next_attempt_at is None or self.next_attempt_at >= moment:
            return self
        return replace(self, next_attempt_at=moment)

    def with_attempt(self, attempt: Attempt) -> Self:
        """Return the record after `attempt` (the table of spec 3.4).

        If two tasks run the same attempt concurrently, its last result replaces the earlier result.
        A round never has more attempts than the schedule.
        """
        took = timedelta(milliseconds=attempt.milliseconds)
        ended = attempt.at + took
        is_final = attempt.acknowledged or attempt.number >= len(RETRY_SCHEDULE)
        refused = Outcome.FAILED if is_final else Outcome.RETRYING
        same = (attempt.round, attempt.number)
        others = [made for made in self.log if (made.round, made.number) != same]
        return replace(
            self,
            outcome=Outcome.SUCCESS if attempt.acknowledged else refused,
            attempts=max(self.attempts, attempt.number if attempt.round == self.round else 0),
            next_attempt_at=None if is_final else ended + retry_step(attempt.number + 1).delay,
            ended_at=ended if is_final else None,
            reason=None,
            log=(*others, attempt)[-LOG_KEPT:],
            begun=0,
            slow=not is_final and took >= SLOW_AFTER,
        )

    def skipped(self, reason: str, now: datetime) -> Self:
        """Return the record as skipped for `reason`. The log of attempts stays."""
        return replace(
            self,
            outcome=Outcome.SKIPPED,
            reason=reason,
            next_attempt_at=None,
            ended_at=now,
            begun=0,
            slow=False,
        )

    def moved_to(self, url: str) -> Self:
        """Return the record with another `url` for the due attempt and later attempts."""
        return replace(self, url=url, url_round=self.round, url_attempt=self.due_attempt)

    def redelivered(
        self,
        due: datetime,
        *,
        url: str | None = None,
        endpoint: str | None = None,
        settings_read_at: datetime | None = None,
    ) -> Self:
        """Return the record at the start of a redelivery: four new attempts, the first at `due`.

        Args:
            due: Time of the first attempt.
            url: Current URL of the endpoint. By default the URL of the last round.
            endpoint: ID of the endpoint. By default the endpoint of the last round.
            settings_read_at: Time at which the webhook settings were read.

        Raises:
            ValueError: An attempt is still due.
        """
        if self.outcome.is_open:
            raise ValueError("the delivery has not ended")
        url = url or self.url
        return replace(
            self,
            url=url,
            url_round=self.url_round if url == self.url else self.round + 1,
            url_attempt=self.url_attempt if url == self.url else 1,
            settings_read_at=settings_read_at,
            endpoint=endpoint or self.endpoint,
            outcome=Outcome.PENDING,
            attempts=0,
            next_attempt_at=due,
            reason=None,
            round=self.round + 1,
            ended_at=None,
            begun=0,
            slow=False,
        )


FOREVER: Final = datetime.max.replace(tzinfo=UTC)
"""End of a selection without an end."""

UNDELIVERED: Final = (Outcome.FAILED, Outcome.SKIPPED)
"""Outcomes of deliveries that did not reach the receiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithin:
    """Deliveries that ended in `[since, until]` with one of `outcomes`.

    `endpoints` (the names of one endpoint), `event_type` and `tests_only` narrow the selection.
    """

    since: datetime
    until: datetime = FOREVER
    outcomes: tuple[Outcome, ...] = UNDELIVERED
    endpoints: tuple[str, ...] = ()
    event_type: EventType | None = None
    tests_only: bool = False
