"""The task that asks for a look at the watched URLs of an event."""

import hashlib
from datetime import datetime
from typing import Any, Final

from functions.gcp.task_queue import Task

QUEUE: Final = "sendWebhookNotice"


def look_task(event_id: str, due: datetime, *, suffix: str = "") -> Task:
    """The task for the look that is `due`, with the same name each time it is made.

    `suffix` makes another name, for a task that got lost.
    """
    event = hashlib.sha256(event_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    name = f"{event}-{int(due.timestamp() * 1000)}{suffix}"
    return Task(queue=QUEUE, name=name, data={"eventId": event_id}, due=due)


def event_of(data: Any) -> str:
    """The event that a task is about.

    Raises:
        ValueError: `look_task` made no such body.
    """
    match data:
        case {"eventId": str(event_id)} if event_id:
            return event_id
    raise ValueError("not the task of a look: eventId is needed")
