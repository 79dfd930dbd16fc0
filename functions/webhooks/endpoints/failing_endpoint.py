"""Records of failing endpoints, and the decision about their next action (spec 6.4, 6.5 and 7.3).

A failed delivery creates the record. As long as the record exists, each sweep carries out
`EndpointCheck.next_action`. The first matching row decides:

    an admin has switched the endpoint off                          wait
    the service has disabled it, and no notice was sent             notify
    it recovers automatically, has acknowledged a delivery,
    and its URL is usable                                           send again
    only failures for 5 days, 100 or more                           disable
    5 consecutive failures, and no notice was sent                  notify
    a notice was sent, and it acknowledged the last delivery        notify of recovery
    it acknowledged a delivery after the last failure, 10 minutes   forget
    ago
    otherwise                                                       wait

A record that does not change is eventually forgotten. Each action is carried out before it is
recorded. After a crash in between, a notice may be sent twice, but no delivery is resent twice.
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
from functions.webhooks.deliveries.redelivery import skip_reason_of
from functions.webhooks.webhook_settings import SWITCHED_OFF, Subscription

FAILURES_TO_NOTIFY: Final = 5
"""Number of consecutive failures after which a notice is sent."""

FAILURES_TO_DISABLE: Final = 100
FAILING_FOR: Final = timedelta(days=5)
"""An endpoint is disabled after 100 consecutive failures, the first at least 5 days ago."""

RECOVERED_BACK: Final = timedelta(hours=24)
"""Maximum age of failures that are redelivered automatically."""

MIN_BETWEEN_NOTICES: Final = timedelta(hours=1)
"""Minimum time between two notices about one endpoint."""

NOTED_AGAIN: Final = timedelta(minutes=1)
"""Minimum time between two records of a failure in a process, as receivers may fail many times a
second. The last failure is at most that much later than its record."""

LATE_RECORD_MARGIN: Final = timedelta(minutes=10)
"""Maximum delay of a record. Deliveries that ended within that time may not be recorded yet."""

MIN_RECHECK: Final = timedelta(minutes=4)
"""Minimum wait until the next check. Shorter than SWEEP_PERIOD, so that the next sweep checks."""

MAX_RECHECK: Final = timedelta(hours=1)
"""Maximum wait until the next check."""


class NoticeState(StrEnum):
    """State of an endpoint that a notice reports."""

    FAILING = "failing"
    DISABLED = "disabled"
    RECOVERED = "recovered"


class NextAction(StrEnum):
    """Next action for a failing endpoint."""

    WAIT = "wait"
    NOTIFY = "notify"
    NOTIFY_OF_RECOVERY = "notify of recovery"
    RESEND = "send again"
    DISABLE = "disable"
    FORGET = "forget"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentDeliveries:
    """The latest deliveries to an endpoint.

    Attributes:
        acknowledged_at: Time of the last acknowledgement, tests included. None if there is none.
        failures: Number of consecutive failures since, tests excluded.
        has_failed_for_long: Whether the first of 100 or more failures is five days old.
    """

    acknowledged_at: datetime | None = None
    failures: int = 0
    has_failed_for_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingEndpoint:
    """The record `events/{event_id}/endpoints/{id}`.

    Attributes:
        id: ID of the endpoint (`Subscription.id`).
        tenant_id: Tenant of the event.
        url: URL of the endpoint.
        since: Time from which failures count: a minute before the end of the first failure.
        failed_at: Time of the last recorded failure, at most `NOTED_AGAIN` before the last failure.
        due_at: Time of the next check.
        reported: The reported state that is still current: failing or disabled. None after a
            recovery.
        reported_at: Time of the last notice.
        resent_until: Failures up to that time were redelivered.
        version: Version of the record when it was read.
    """

    event_id: str
    id: str
    tenant_id: str
    url: str
    since: datetime
    failed_at: datetime
    due_at: datetime
    reported: NoticeState | None = None
    reported_at: datetime | None = None
    resent_until: datetime | None = None
    version: Version | None = field(default=None, compare=False)

    def of(self, endpoint: Subscription, now: datetime) -> Self:
        """Return the record for the current configuration of the endpoint.

        The count of failures restarts when the URL changes or the endpoint is enabled again. After
        that, a reported state of "disabled" becomes "failing", because the endpoint may still fail.
        """
        anew = self.url != endpoint.url or endpoint.disabled
        enabled = self.reported is NoticeState.DISABLED and not endpoint.disabled
        return replace(
            self,
            url=endpoint.url,
            since=now if anew else self.since,
            reported=NoticeState.FAILING if enabled else self.reported,
        )

    def waiting(self, endpoint: Subscription, now: datetime) -> Self:
        """Return the record with the time of its next check.

        The next sweep checks an endpoint with automatic recovery. For others the wait grows with
        the time since the failure, up to an hour. Failures of the last minutes are checked again,
        because their records may be late.
        """
        age = now - self.failed_at
        recovers = endpoint.recover and not endpoint.disabled and age < RECOVERED_BACK
        return replace(
            self,
            due_at=now
            + (MIN_RECHECK if recovers else min(max(age / 10, MIN_RECHECK), MAX_RECHECK)),
            resent_until=self.resent_until and min(self.resent_until, now - LATE_RECORD_MARGIN),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCheck:
    """A check of a failing endpoint.

    Attributes:
        record: The record for the current configuration of the endpoint.
        endpoint: The configuration of the endpoint.
        has_people: Whether the settings have addresses to notify.
        now: Time of the check.
        latest: The latest deliveries to the endpoint.
    """

    record: FailingEndpoint
    endpoint: Subscription
    has_people: bool
    now: datetime
    latest: RecentDeliveries = RecentDeliveries()

    @property
    def next_action(self) -> NextAction:  # noqa: PLR0911 - a table
        """The next action."""
        record, endpoint, latest = self.record, self.endpoint, self.latest
        may_notify = self.has_people and (
            record.reported_at is None or self.now - record.reported_at >= MIN_BETWEEN_NOTICES
        )
        if endpoint.disabled == SWITCHED_OFF:
            return self._wait_or_forget
        if endpoint.disabled:
            is_known = record.reported is NoticeState.DISABLED
            return NextAction.NOTIFY if may_notify and not is_known else self._wait_or_forget
        if endpoint.recover and not skip_reason_of(endpoint) and self._has_answered:
            return NextAction.RESEND
        if latest.failures >= FAILURES_TO_DISABLE and latest.has_failed_for_long:
            return NextAction.DISABLE
        if may_notify and not record.reported and latest.failures >= FAILURES_TO_NOTIFY:
            return NextAction.NOTIFY
        acknowledged_at = latest.acknowledged_at
        if acknowledged_at and acknowledged_at >= record.since and not latest.failures:
            if may_notify and record.reported:
                return NextAction.NOTIFY_OF_RECOVERY
            is_last = acknowledged_at >= record.failed_at + NOTED_AGAIN
            is_settled = is_last and self.now - record.failed_at >= LATE_RECORD_MARGIN
            if is_settled and (may_notify or not self.has_people):
                return NextAction.FORGET
        return self._wait_or_forget

    @property
    def _has_answered(self) -> bool:
        """Whether the receiver has acknowledged a delivery since the last recovery."""
        acknowledged_at, resent_until = self.latest.acknowledged_at, self.record.resent_until
        if acknowledged_at is None or self.now - acknowledged_at > RECOVERED_BACK:
            return False
        return resent_until is None or acknowledged_at > resent_until

    @property
    def _wait_or_forget(self) -> NextAction:
        """The action of a record that has no other: wait, or forget it after a long time."""
        kept = KEPT_FOR if self.record.reported else FAILING_FOR
        return NextAction.FORGET if self.now - self.record.failed_at >= kept else NextAction.WAIT


NOTICE_QUEUE: Final = "sendWebhookNotice"
"""Name of the queue and function of notices."""


def notice_task(event_id: str, now: datetime) -> Task:
    """Return the task of a notice, with one name per sweep, so that an event has one email."""
    event = uuid.uuid5(uuid.NAMESPACE_OID, event_id)
    period = int(now.timestamp() // SWEEP_PERIOD.total_seconds())
    return Task(queue=NOTICE_QUEUE, name=f"{event}-{period}", data={"eventId": event_id}, due=now)


def event_of_notice(data: Any) -> str:
    """Return the event ID in the body of a notice's task.

    Raises:
        MalformedTaskError: The body is malformed.
    """
    match data:
        case {"eventId": str(event_id)} if event_id:
            return event_id
    raise MalformedTaskError("The task of a notice needs eventId.")
