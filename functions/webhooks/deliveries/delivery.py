"""A delivery: one notification of one event to one URL (spec 2.5), and how an attempt changes it.

created ──▶ skipped                        the URL is unusable, or disabled
        └─▶ pending ──▶ success            2xx
                    ├─▶ retrying ──▶ …     anything else, and an attempt is left
                    │            └─▶ failed
                    └─▶ skipped            the endpoint was removed, stopped or unsubscribed

A delivery that has ended can be sent again: the redelivery begins at `pending`, with the same id
and body. A round is one redelivery, counted from 1, or the delivery's first attempts, round 0.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from functions.firestore.model import Version
from functions.ports import MalformedTaskError, Task, wire_time
from functions.webhooks.deliveries.endpoint_url import EndpointUrl, UnusableUrlError, host_of
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SLOW_QUEUE, step
from functions.webhooks.events import EventType, Payload

KEPT_FOR: Final = timedelta(days=30)
"""How long a delivery stays recorded; Firestore's TTL policy deletes it after `expireAt`."""

LOG_KEPT: Final = 40
"""Attempts of a delivery that stay recorded, the last ones: ten rounds."""

SLOW_AFTER: Final = timedelta(seconds=1)
"""A receiver that takes longer to answer is slow: its attempts have a queue of their own."""

SETTINGS_KEPT: Final = timedelta(seconds=5)
"""How long an attempt may rely on webhook settings that were read earlier (spec 3.4)."""

ACKNOWLEDGING: Final = range(200, 300)
"""Statuses by which a receiver acknowledges a delivery (spec 4.3)."""

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
        """Whether an attempt is due, now or later."""
        return self in (Outcome.PENDING, Outcome.RETRYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One POST: the HTTP `status` of the answer, or the `error` that left no answer.

    `at` is when the POST began, `milliseconds` how long it took. `round` is the delivery's at that
    time. `answer` is the beginning of the body of an answer that was not 2xx; it decides nothing
    (spec 4.3).
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
    """Where a page of deliveries stopped: the last one, and the time by which they are sorted."""

    at: datetime
    delivery_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The record of a delivery, `events/{event_id}/deliveries/{id}`.

    Attributes:
        url: Where the attempts of this round go.
        endpoint: Id of the endpoint, whose present URL a redelivery goes to.
        body: The JSON text that every attempt sends, byte for byte.
        next_attempt_at: When the due attempt is to be made; None once the outcome is final.
        ended_at: When the outcome became final.
        reason: Why the delivery was skipped.
        round: How often the delivery was sent again.
        url_round: The first round that went to `url`; earlier ones went to another URL.
        url_attempt: The first attempt of that round that went to `url`.
        settings_read_at: When the webhook settings were read for a redelivery; None in round 0,
            whose settings were read at `created_at`.
        attempts: Attempts of this round.
        log: Attempts of all rounds.
        test: Whether an organizer sent the delivery to try a URL.
        begun: How often the due attempt was recorded as started, after its task had failed.
        written_at: When Firestore took the write that the delivery tells of; None for a test.
        slow: Whether the due attempt belongs on the slow queue.
        version: Version of the record as it was read, which a save must still find.
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
        """Refuse a due attempt that the schedule has not."""
        if self.next_attempt_at:
            step(self.due_attempt)

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
        """A new delivery, due at once.

        The delivery is skipped if `url` is unusable or `disabled` gives a reason.

        `cause` names the write, the milestone or the guest, with the same name at every run: cause,
        event type and URL make the delivery's id.
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
        """For a log line; see `host_of`."""
        return host_of(self.url)

    @property
    def end(self) -> Cursor:
        """The cursor behind the delivery, in a page of ended deliveries."""
        return Cursor(self.ended_at or self.created_at, self.id)

    @property
    def is_untried(self) -> bool:
        """Whether no attempt was made yet."""
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
        """Return whether the settings have to be read before the due attempt is made `now`.

        They are read before every retry, and before a first attempt that is late.
        """
        read_at = self.settings_read_at or (None if self.round else self.created_at)
        return self.attempts > 0 or read_at is None or now - read_at > SETTINGS_KEPT

    def is_news(self, attempt: Attempt, url: str) -> bool:
        """Whether `attempt` at `url` changes the record although it is not the one recorded there.

        Only the first acknowledgement does: the receiver has the message, even if another attempt
        failed, the last of the schedule included. An acknowledgement of an earlier round counts as
        well, unless that round went to another URL, or the delivery had been acknowledged before
        that round began.
        """
        return (
            attempt.acknowledged
            and self.outcome is not Outcome.SUCCESS
            and url == self.url
            and attempt.round >= self.url_round
            and (attempt.round == self.round or not any(made.acknowledged for made in self.log))
        )

    @property
    def due_since(self) -> datetime:
        """When the due attempt begins to lag: the very first at the write, others when due."""
        due = self.next_attempt_at or self.created_at
        if self.written_at and not self.attempts and due <= self.created_at:
            return self.written_at
        return due

    def due_after(self, moment: datetime) -> Self:
        """The record where the due attempt waits until that `moment`, if it was due earlier."""
        if self.next_attempt_at is None or self.next_attempt_at >= moment:
            return self
        return replace(self, next_attempt_at=moment)

    def after(self, attempt: Attempt) -> Self:
        """The record once `attempt` has been made (the table of spec 3.4).

        An attempt that two tasks have made at once is one attempt: its last result replaces the
        earlier one, so that a round never has more attempts than the schedule.
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
            next_attempt_at=None if is_final else ended + step(attempt.number + 1).delay,
            ended_at=ended if is_final else None,
            reason=None,
            log=(*others, attempt)[-LOG_KEPT:],
            begun=0,
            slow=not is_final and took >= SLOW_AFTER,
        )

    def skipped(self, reason: str, now: datetime) -> Self:
        """Return the record once the organizer has stopped the endpoint; its log stays."""
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
        """Return the record once the due attempt and later ones go to another URL."""
        return replace(self, url=url, url_round=self.round, url_attempt=self.due_attempt)

    def redelivered(
        self,
        due: datetime,
        *,
        url: str | None = None,
        endpoint: str | None = None,
        settings_read_at: datetime | None = None,
    ) -> Self:
        """The record once the delivery is sent again: four fresh attempts, the first one `due`.

        They go to the present `url` of the `endpoint`; to those of the last round if left out.

        Raises:
            ValueError: an attempt is still due.
            UnusableUrlError: no attempt can be made.
        """
        if self.outcome.is_open:
            raise ValueError("the delivery has not ended")
        url = url or self.url
        EndpointUrl.parse(url)
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


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """The attempt that a task asks for, by delivery, round and number.

    `slow` tells that the task is on the slow queue. `dispatched_before` counts the earlier
    dispatches of the task, which all failed.
    """

    event_id: str
    delivery_id: str
    attempt: int
    round: int = 0
    slow: bool = False
    dispatched_before: int = 0

    @classmethod
    def read(cls, data: Any, *, dispatched_before: int = 0) -> Self:
        """Read the body of a task.

        Raises:
            MalformedTaskError: `attempt_task` made no such body.
        """
        given = {"round": 0, "slow": 0, **data} if isinstance(data, Mapping) else {}
        match given:
            case {
                "eventId": str(event),
                "deliveryId": str(delivery),
                "attempt": int(attempt),
                "round": int(in_round),
                "slow": slow,
            }:
                return cls(event, delivery, attempt, in_round, bool(slow), dispatched_before)
        raise MalformedTaskError("an attempt's task needs eventId, deliveryId and attempt")


def attempt_task(delivery: Delivery, *, suffix: str = "") -> Task:
    """The task for the due attempt of `delivery`: its queue, name and time are recorded.

    The task has the same name each time it is made, so that Cloud Tasks keeps one. On the slow
    queue the due time is in the name, as a delivery may have to wait there more than once. Each
    round has its own names, because a name stays taken for a day. `suffix` makes another name, for
    a task that was queued and got lost.
    """
    if delivery.next_attempt_at is None:
        raise ValueError("the delivery has no attempt that is due")
    data: dict[str, str | int] = {
        "eventId": delivery.event_id,
        "deliveryId": delivery.id,
        "attempt": delivery.due_attempt,
    }
    series = delivery.id
    if delivery.round:
        data["round"] = delivery.round
        series += f"-r{delivery.round}"
    series = f"{series}-{delivery.due_attempt}"
    if delivery.slow:
        data["slow"] = 1
        series += f"-at{int(delivery.next_attempt_at.timestamp() * 1000)}"
    return Task(
        queue=SLOW_QUEUE if delivery.slow else step(delivery.due_attempt).queue,
        name=f"{series}{suffix}",
        data=data,
        due=delivery.next_attempt_at,
    )


FOREVER: Final = datetime.max.replace(tzinfo=UTC)
"""The end of a selection that has none."""

UNDELIVERED: Final = (Outcome.FAILED, Outcome.SKIPPED)
"""Outcomes of deliveries that the receiver did not get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithin:
    """Deliveries that ended in `[since, until]` with one of `outcomes`.

    `endpoints` (names of one endpoint), `event_type` and `tests_only` narrow the selection.
    """

    since: datetime
    until: datetime = FOREVER
    outcomes: tuple[Outcome, ...] = UNDELIVERED
    endpoints: tuple[str, ...] = ()
    event_type: EventType | None = None
    tests_only: bool = False
