"""The webhooks' parts, put together for this process on first use.

Each imports what it needs when it is needed: an instance runs one function, and waits for no more
than that one's parts.
"""

from __future__ import annotations

import functools
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functions.gcp.task_queue import Task, TaskQueue
    from functions.gcp.webhook_secrets import WebhookSecrets
    from functions.webhooks.actions import Actions
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.sender import Sender
    from functions.webhooks.sweeper import Sweeper
    from functions.webhooks.worker import Worker


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def publisher() -> Publisher:
    """What the triggers call."""
    from functions.gcp import firestore
    from functions.gcp.delivery_store import DeliveryStore
    from functions.gcp.wall_store import WallStore
    from functions.webhooks.publisher import Publisher

    client = firestore.client()
    return Publisher(WallStore(client), DeliveryStore(client), task_queue(), _now)


@functools.cache
def worker() -> Worker:
    """What the task queues call."""
    from functions.gcp import firestore
    from functions.gcp.delivery_store import DeliveryStore
    from functions.gcp.webhook_settings import WebhookSettings
    from functions.webhooks.breaker import Breaker
    from functions.webhooks.worker import Worker

    client = firestore.client()
    deliveries = DeliveryStore(client)
    breaker = Breaker(deliveries, WebhookSettings(client), _now)
    return Worker(deliveries, _secrets(), sender(), _QueueOnDemand(), breaker=breaker, now=_now)


@functools.cache
def sweeper() -> Sweeper:
    """What the schedule calls."""
    from functions.gcp import firestore
    from functions.gcp.delivery_store import DeliveryStore
    from functions.webhooks.sweeper import Sweeper

    return Sweeper(DeliveryStore(firestore.client()), task_queue(), _now)


@functools.cache
def actions() -> Actions:
    """What an organizer calls."""
    from functions.gcp import firestore
    from functions.gcp.delivery_store import DeliveryStore
    from functions.gcp.wall_store import WallStore
    from functions.webhooks.actions import Actions

    client = firestore.client()
    deliveries = DeliveryStore(client)
    return Actions(
        WallStore(client), deliveries, _secrets(), _QueueOnDemand(), worker=worker(), now=_now
    )


@functools.cache
def task_queue() -> TaskQueue:
    """Where tasks go: to the emulator where there is one."""
    emulator = os.environ.get("CLOUD_TASKS_EMULATOR_HOST")
    if emulator:
        from functions.gcp.emulated_tasks import EmulatedTasks

        return EmulatedTasks.of_environment(emulator)
    from functions.gcp.cloud_tasks import CloudTasks

    return CloudTasks.of_environment()


class _QueueOnDemand:
    """The task queue of whoever may never need it: its client takes a good part of a cold start."""

    def enqueue(self, task: Task) -> None:
        task_queue().enqueue(task)


@functools.cache
def _secrets() -> WebhookSecrets:
    from functions.gcp import firestore
    from functions.gcp.webhook_secrets import WebhookSecrets

    return WebhookSecrets(firestore.client())


def sender() -> Sender:
    """What posts to receivers, with the authorities and addresses that are trusted here."""
    import ssl

    import certifi

    from functions.gcp import parameters
    from functions.webhooks.sender import Sender

    tls = ssl.create_default_context(cafile=certifi.where())
    further = parameters.webhook_ca_bundle()
    if further:
        tls.load_verify_locations(further)
    return Sender(tls, allow_loopback=parameters.webhook_allow_loopback())
