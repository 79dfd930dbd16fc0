"""Records as the service leaves them, for tests that need some."""

from datetime import datetime, timedelta
from typing import Any

from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.webhook_settings import key


def failed_delivery(url: str, body: str, ended: datetime) -> dict[str, Any]:
    """The fields of a delivery of `photo.uploaded` that has failed for good, at `ended`."""
    created = ended - timedelta(seconds=40)
    attempt = {"at": created, "status": 500, "ms": 7, "error": None}
    return {
        "event": "photo.uploaded",
        "url": url,
        "endpoint": key(url),
        "body": body,
        "createdAt": created,
        "expireAt": ended + timedelta(days=30),
        "outcome": "failed",
        "attempts": len(RETRY_SCHEDULE),
        "nextAttemptAt": None,
        "endedAt": ended,
        "log": [attempt | {"attempt": number} for number, _ in enumerate(RETRY_SCHEDULE, 1)],
    }
