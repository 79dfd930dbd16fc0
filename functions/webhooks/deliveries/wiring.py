"""The parts that several rooms need of deliveries, made for this process on first use."""

import os
from functools import partial
from typing import Final

from functions import parameters
from functions.gcp.documents import documents
from functions.gcp.grouped_documents import grouped_documents
from functions.gcp.task_queue import Enqueue, Task
from functions.machine import CLOCK
from functions.once import once
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.redelivery import Redelivery
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.deliveries.tenants import Tenants

AT_ONCE: Final = 20
"""Tasks queued, or deliveries sent again, at the same time: the URLs of one event."""


@once
def store() -> DeliveryStore:
    """The records of deliveries; attempts read and write theirs together."""
    return DeliveryStore(grouped_documents())


@once
def tenants() -> Tenants:
    """The tenant of each event."""
    return Tenants(documents(), CLOCK.monotonic)


@once
def pace() -> Pace:
    """The pace of all deliveries that this process makes due."""
    return Pace(parameters.EVENT_DELIVERIES_A_SECOND.value, CLOCK.monotonic, tenants().of)


def redelivery() -> Redelivery:
    """Sends deliveries again."""
    return Redelivery(store(), enqueue, pace(), CLOCK)


def enqueue(task: Task) -> None:
    """Queue `task`; the client is made for the first task, because it slows a cold start down."""
    _task_queue()(task)


@once
def _task_queue() -> Enqueue:
    """Cloud Tasks, or the emulator where there is one."""
    emulator = os.environ.get("CLOUD_TASKS_EMULATOR_HOST")
    if emulator:
        from functions.gcp import emulated_tasks

        return partial(emulated_tasks.enqueue, emulator)
    from functions.gcp.cloud_tasks import CloudTasks

    return CloudTasks.of_environment().enqueue
