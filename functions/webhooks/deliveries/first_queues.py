"""The queues of first attempts: several for the ordinary ones, and one for slow receivers.

A queue has so many places, and who floods it takes them all. The event, which every task names,
decides which queue its deliveries share: one event's flood holds up a part of the others at most.
Who has just been slow waits in a queue of its own (`slow_receivers`).
"""

import zlib
from dataclasses import replace
from typing import Final

from functions.gcp.task_queue import Task
from functions.webhooks.deliveries.attempt_task import attempt_task
from functions.webhooks.deliveries.delivery import Delivery
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE

ORDINARY: Final = (
    RETRY_SCHEDULE[0].queue,
    *(f"{RETRY_SCHEDULE[0].queue}{number}" for number in (2, 3, 4)),
)
SLOW: Final = f"{RETRY_SCHEDULE[0].queue}Slow"


def spread(task: Task, queues: int) -> Task:
    """`task`, where it is a first attempt's, on its event's queue among the first `queues`."""
    if task.queue != ORDINARY[0]:
        return task
    event_id = str(task.data["eventId"])
    number = zlib.crc32(event_id.encode()) % max(1, min(queues, len(ORDINARY)))
    return replace(task, queue=ORDINARY[number])


def slow_task(delivery: Delivery, again: str) -> Task:
    """The task of the first attempt of `delivery`, on the queue of slow receivers.

    `again` is that of the task in whose place it stands.
    """
    task = attempt_task(delivery, again=again)
    return replace(task, queue=SLOW, data={**task.data, "slow": 1})
