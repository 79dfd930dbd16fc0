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


def latest(
    deliveries: DeliveryStore,
    record: FailingEndpoint,
    endpoint: Subscription,
    *,
    has_people: bool,
    now: datetime,
) -> Latest:
    """The latest deliveries to the endpoint, as far as anything can follow from them.

    One read; a second one where people are to be notified, or where it has failed for five days,
    and two more where it fails.
    """
    success = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    acknowledged = success.ended_at if success else None
    since = max(record.since, acknowledged or record.since)
    is_old = now - since >= FAILING_FOR
    if endpoint.disabled or not (has_people or is_old):
        return Latest(acknowledged_at=acknowledged)
    failed = EndedWithin(since=since, until=now, outcomes=(Outcome.FAILED,), endpoints=(record.id,))
    failures = deliveries.count_ended(record.event_id, failed)
    if failures:
        failures -= deliveries.count_ended(record.event_id, failed.of_tests())
    if not is_old or failures < FAILURES_TO_GIVE_UP:
        return Latest(acknowledged_at=acknowledged, failures=failures)
    first = deliveries.ended(record.event_id, failed, None, 1)
    meanwhile = deliveries.last(record.event_id, record.id, Outcome.SUCCESS)
    if meanwhile and meanwhile.ended_at != acknowledged:  # during the count, which it has ended
        return Latest(acknowledged_at=meanwhile.ended_at)
    return Latest(
        acknowledged_at=acknowledged,
        failures=failures,
        has_failed_for_long=bool(first) and now - first[0].end.at >= FAILING_FOR,
    )
