"""What is known of an endpoint that fails, and what follows from it (spec 6.4, 6.5 and 7.3).

A failed delivery makes the record; while the record is there, the sweep asks `Check.step`, until
the answer is to wait, or to forget the endpoint. The first row that holds decides:

    an admin has switched it off                                    wait
    the service has disabled it, and people do not know             notify
    it recovers automatically, and has acknowledged a delivery,
    and its URL can be used                                         send again
    5 days of nothing but failures, 100 or more                     disable
    5 failures in a row, and people do not know                     notify
    people know that it failed, and it acknowledged the last one    notify of recovery
    it acknowledged one after the last failure, 10 minutes ago      forget
    otherwise                                                       wait

A record that nothing happens to is forgotten in the end. Each step is carried out first and
recorded then: after a crash in between a notice may come twice, and no delivery is sent twice.
"""

import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from functions.firestore.model import Version
from functions.ports import MalformedTaskError, Task
from functions.webhooks.deliveries.delivery import KEPT_FOR
from functions.webhooks.deliveries.queues import SWEEP_PERIOD
from functions.webhooks.deliveries.redelivery import obstacle_at
from functions.webhooks.webhook_settings import SWITCHED_OFF, Subscription

FAILURES_TO_NOTIFY: Final = 5
"""Failures in a row after which people are notified."""

FAILURES_TO_DISABLE: Final = 100
FAILING_FOR: Final = timedelta(days=5)
"""An endpoint is disabled after 100 consecutive failures, the first at least 5 days ago."""

RECOVERED_BACK: Final = timedelta(hours=24)
"""What failed longer ago is not sent again by itself."""

MIN_BETWEEN_NOTICES: Final = timedelta(hours=1)
"""Least time between two notices about one endpoint."""

NOTED_AGAIN: Final = timedelta(minutes=1)
"""How often a process notes failures of one endpoint: a dead receiver may fail many times a second.
So the last failure is at most a minute later than the record says."""

SETTLED: Final = timedelta(minutes=10)
"""A record may be late by minutes: what ended within that time may not be known yet."""

MIN_RECHECK: Final = timedelta(minutes=4)
"""Shortest wait until the next check; less than SWEEP_PERIOD, so that the next sweep takes it."""

MAX_RECHECK: Final = timedelta(hours=1)
"""Longest wait until the next check."""


class Standing(StrEnum):
    """What people are notified of."""

    FAILING = "failing"
    DISABLED = "disabled"
    RECOVERED = "recovered"


class Step(StrEnum):
    """What follows from the record of an endpoint."""

    WAIT = "wait"
    NOTIFY = "notify"
    NOTIFY_OF_RECOVERY = "notify of recovery"
    SEND_AGAIN = "send again"
    DISABLE = "disable"
    FORGET = "forget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """The latest deliveries to an endpoint.

    Attributes:
        acknowledged_at: When one was last acknowledged, a test or not; None if none is recorded.
        failures: How many have failed in a row since, tests not counted; 100 are enough.
        has_failed_for_long: Whether the first of them is five days old.
    """

    acknowledged_at: datetime | None = None
    failures: int = 0
    has_failed_for_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingEndpoint:
    """The record `events/{event_id}/endpoints/{id}`.

    Attributes:
        id: Id of the endpoint (`Subscription.id`).
        tenant_id: Tenant of the event.
        url: Where its deliveries go.
        since: Failures count from then on: a minute before the end of the first noted failure.
        failed_at: When a failure was last noted, at most `NOTED_AGAIN` before the last failure.
        due_at: When the sweep checks next.
        reported: What people were last notified of and still believe: that it fails, or is
            disabled.
        reported_at: When people were last notified of anything.
        resent_until: What failed by then was sent again.
        version: Version of the record as it was read.
    """

    event_id: str
    id: str
    tenant_id: str
    url: str
    since: datetime
    failed_at: datetime
    due_at: datetime
    reported: Standing | None = None
    reported_at: datetime | None = None
    resent_until: datetime | None = None
    version: Version | None = field(default=None, compare=False)

    def of(self, endpoint: Subscription, now: datetime) -> Self:
        """The record of the endpoint as it is configured now.

        Failures count anew at another URL, and once the endpoint is enabled again. People who were
        notified that it is disabled know when an admin has enabled it, but not that it works.
        """
        anew = self.url != endpoint.url or endpoint.disabled
        enabled = self.reported is Standing.DISABLED and not endpoint.disabled
        return replace(
            self,
            url=endpoint.url,
            since=now if anew else self.since,
            reported=Standing.FAILING if enabled else self.reported,
        )

    def waiting(self, endpoint: Subscription, now: datetime) -> Self:
        """The record with the time of its next check.

        A recovery waits for the next sweep; else the wait grows with the time since the failure,
        from one sweep to an hour. What failed in the last minutes is checked once more, as a record
        may be late.
        """
        age = now - self.failed_at
        recovers = endpoint.recover and not endpoint.disabled and age < RECOVERED_BACK
        return replace(
            self,
            due_at=now
            + (MIN_RECHECK if recovers else min(max(age / 10, MIN_RECHECK), MAX_RECHECK)),
            resent_until=self.resent_until and min(self.resent_until, now - SETTLED),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A look at an endpoint that fails.

    Attributes:
        record: What is known, of the endpoint as it is configured.
        endpoint: As it is configured.
        has_people: Whether the settings name anybody to notify.
        now: The time.
        latest: Its latest deliveries.
    """

    record: FailingEndpoint
    endpoint: Subscription
    has_people: bool
    now: datetime
    latest: Latest = Latest()

    @property
    def step(self) -> Step:  # noqa: PLR0911 - a table
        """The next step."""
        record, endpoint, latest = self.record, self.endpoint, self.latest
        may_notify = self.has_people and (
            record.reported_at is None or self.now - record.reported_at >= MIN_BETWEEN_NOTICES
        )
        if endpoint.disabled == SWITCHED_OFF:
            return self._wait_or_forget
        if endpoint.disabled:
            is_known = record.reported is Standing.DISABLED
            return Step.NOTIFY if may_notify and not is_known else self._wait_or_forget
        if endpoint.recover and not obstacle_at(endpoint) and self._has_answered:
            return Step.SEND_AGAIN
        if latest.failures >= FAILURES_TO_DISABLE and latest.has_failed_for_long:
            return Step.DISABLE
        if may_notify and not record.reported and latest.failures >= FAILURES_TO_NOTIFY:
            return Step.NOTIFY
        acknowledged_at = latest.acknowledged_at
        if acknowledged_at and acknowledged_at >= record.since and not latest.failures:
            if may_notify and record.reported:
                return Step.NOTIFY_OF_RECOVERY
            is_last = acknowledged_at >= record.failed_at + NOTED_AGAIN
            is_settled = is_last and self.now - record.failed_at >= SETTLED
            if is_settled and (may_notify or not self.has_people):
                return Step.FORGET
        return self._wait_or_forget

    @property
    def _has_answered(self) -> bool:
        """Whether a delivery was acknowledged since the last recovery, so that one is due."""
        acknowledged_at, resent_until = self.latest.acknowledged_at, self.record.resent_until
        if acknowledged_at is None or self.now - acknowledged_at > RECOVERED_BACK:
            return False
        return resent_until is None or acknowledged_at > resent_until

    @property
    def _wait_or_forget(self) -> Step:
        """Wait, or forget a record that nothing has happened to for a long time."""
        kept = KEPT_FOR if self.record.reported else FAILING_FOR
        return Step.FORGET if self.now - self.record.failed_at >= kept else Step.WAIT


NOTICE_QUEUE: Final = "sendWebhookNotice"
"""The queue, and the function, of notices."""


def notice_task(event_id: str, now: datetime) -> Task:
    """The task, of one name in a period: the endpoints of an event share a mail."""
    event = uuid.uuid5(uuid.NAMESPACE_OID, event_id)
    period = int(now.timestamp() // SWEEP_PERIOD.total_seconds())
    return Task(queue=NOTICE_QUEUE, name=f"{event}-{period}", data={"eventId": event_id}, due=now)


def event_of_notice(data: Any) -> str:
    """The event that a task is about.

    Raises:
        MalformedTaskError: `notice_task` made no such body.
    """
    match data:
        case {"eventId": str(event_id)} if event_id:
            return event_id
    raise MalformedTaskError("a notice's task needs eventId")
