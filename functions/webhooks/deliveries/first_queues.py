"""The queues of first attempts: several by tenant, one for busy events, one for slow receivers.

A queue has so many places, and who floods it takes them all. A tenant has one of the queues for
all its events: its flood holds up the few who share that one with it, and nobody else. A tenant too
big for one queue may have several. What an event owes beyond its share of them waits in a queue for
all such events (`tenant_queues`), and who has just been slow in another (`slow_receivers`).
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
BUSY: Final = f"{RETRY_SCHEDULE[0].queue}Busy"
SLOW: Final = f"{RETRY_SCHEDULE[0].queue}Slow"


def spread(task: Task, tenant: str, queues: int, a_tenant: int = 1) -> Task:
    """`task`, a first attempt's, on a queue of its `tenant` among the first `queues`.

    Where there are several `a_tenant`, the task's name decides: made again, it is on the same one.
    """
    number = _number(tenant) + _number(task.name) % max(1, min(a_tenant, queues))
    return replace(task, queue=ORDINARY[number % queues])


def _number(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass"))


def slow_task(delivery: Delivery, again: str) -> Task:
    """The task of the first attempt of `delivery`, on the queue of slow receivers, where it stays.

    `again` is that of the task in whose place it stands.
    """
    task = attempt_task(delivery, again=again)
    return replace(task, queue=SLOW, data={**task.data, "slow": 1})
