"""The task that asks for a mail with the news of an event's endpoints."""

import uuid
from datetime import datetime
from typing import Any, Final

from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.retry_schedule import SWEEP_PERIOD

QUEUE: Final = "sendWebhookNotice"


def notice_task(event_id: str, now: datetime) -> Task:
    """The task, of one name in a period: the endpoints of an event share a mail."""
    event = uuid.uuid5(uuid.NAMESPACE_OID, event_id)
    period = int(now.timestamp() // SWEEP_PERIOD.total_seconds())
    return Task(queue=QUEUE, name=f"{event}-{period}", data={"eventId": event_id}, due=now)


def event_of(data: Any) -> str:
    """The event that a task is about.

    Raises:
        ValueError: `notice_task` made no such body.
    """
    match data:
        case {"eventId": str(event_id)} if event_id:
            return event_id
    raise ValueError("not the task of a notice: eventId is needed")
