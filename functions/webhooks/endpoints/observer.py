"""What the latest deliveries to an endpoint say of it."""

from datetime import datetime

from functions.webhooks.deliveries.delivery import EndedWithin, Outcome
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.endpoints.failing_endpoint import (
    FAILING_FOR,
    FAILURES_TO_GIVE_UP,
    FailingEndpoint,
    Latest,
)
from functions.webhooks.settings.webhook_settings import Subscription


class Observer:
    """Reads no more than the record can have anything follow from."""

    def __init__(self, deliveries: DeliveryStore) -> None:
        self._deliveries = deliveries

    def latest(
        self, record: FailingEndpoint, endpoint: Subscription, *, has_people: bool, now: datetime
    ) -> Latest:
        """The latest deliveries to the endpoint.

        One read; a second one where people are to be told, or where it has failed for five days,
        and two more where it fails.
        """
        acknowledged = self._deliveries.last_success(record.event_id, record.id)
        since = max(record.since, acknowledged or record.since)
        is_old = now - since >= FAILING_FOR
        if endpoint.disabled or not (has_people or is_old):
            return Latest(acknowledged_at=acknowledged)
        failed = EndedWithin(since=since, until=now, outcomes=(Outcome.FAILED,), endpoint=record.id)
        failures = self._deliveries.count_ended(record.event_id, failed)
        if failures:
            failures -= self._deliveries.count_ended(record.event_id, failed.of_tests())
        if not is_old or failures < FAILURES_TO_GIVE_UP:
            return Latest(acknowledged_at=acknowledged, failures=failures)
        first = self._deliveries.first_failure(record.event_id, record.id, since)
        meanwhile = self._deliveries.last_success(record.event_id, record.id)
        if meanwhile != acknowledged:  # during the count, which it has ended
            return Latest(acknowledged_at=meanwhile)
        return Latest(
            acknowledged_at=acknowledged,
            failures=failures,
            has_failed_for_long=first is not None and now - first >= FAILING_FOR,
        )
