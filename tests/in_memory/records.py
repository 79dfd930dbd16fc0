"""Records as the service writes them, for tests that start from an existing state."""

from datetime import UTC, datetime
from typing import Any, Final

from functions.webhooks.deliveries.delivery import Attempt, Delivery, Outcome
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.events import EventType
from functions.webhooks.webhook_settings import endpoint_id

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def new_delivery(
    cause: str = "write-1",
    url: str = "https://example.com/hook",
    now: datetime = NOW,
    **fields: Any,
) -> Delivery:
    """Build a delivery to `url` as the service creates it."""
    made: dict[str, Any] = {
        "event_id": "e1",
        "event_type": EventType.PHOTO_UPLOADED,
        "endpoint": endpoint_id(url),
        "data": {"name": "Zoë"},
    }
    return Delivery.create(cause=cause, url=url, now=now, **(made | fields))


_STATUS: Final = {Outcome.SUCCESS: 200, Outcome.FAILED: 500}


def ended_delivery(
    name: str, url: str, at: datetime, outcome: Outcome = Outcome.FAILED, **fields: Any
) -> Delivery:
    """Build a delivery to `url` that ended at `at`, with its last attempt."""
    log = [
        Attempt(number=len(RETRY_SCHEDULE), at=at, status=status, milliseconds=1)
        for status in [_STATUS.get(outcome)]
        if status
    ]
    made: dict[str, Any] = {
        "event_id": "e1",
        "event_type": EventType.PHOTO_UPLOADED,
        "endpoint": endpoint_id(url),
        "body": "{}",
        "created_at": at,
        "attempts": len(RETRY_SCHEDULE),
        "ended_at": at,
        "log": tuple(log),
    }
    return Delivery(id=name, url=url, outcome=outcome, **(made | fields))
