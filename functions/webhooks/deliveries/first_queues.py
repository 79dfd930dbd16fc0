"""The queues of first attempts: several for the ordinary ones, and one for slow receivers.

A queue has so many places, and who floods it takes them all. A tenant has one of the queues for
all its events: its flood holds up the few who share that one with it, and nobody else. Who has just
been slow waits in a queue of its own (`slow_receivers`).
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


def spread(task: Task, tenant: str, queues: int) -> Task:
    """`task`, a first attempt's, on the queue of its `tenant` among the first `queues`."""
    number = zlib.crc32(tenant.encode("utf-8", "surrogatepass")) % queues
    return replace(task, queue=ORDINARY[number])


def slow_task(delivery: Delivery, again: str) -> Task:
    """The task of the first attempt of `delivery`, on the queue of slow receivers.

    `again` is that of the task in whose place it stands.
    """
    return slow(attempt_task(delivery, again=again))


def slow(task: Task) -> Task:
    """`task`, a first attempt's, on the queue of slow receivers, where it stays."""
    return replace(task, queue=SLOW, data={**task.data, "slow": 1})
