"""The webhooks' parts, put together for this process on first use."""

import functools
import os
import ssl
from datetime import UTC, datetime

import certifi

from functions.gcp import firestore, parameters
from functions.gcp.delivery_store import DeliveryStore
from functions.gcp.task_queue import TaskQueue
from functions.gcp.wall_store import WallStore
from functions.gcp.webhook_secrets import WebhookSecrets
from functions.gcp.webhook_settings import WebhookSettings
from functions.webhooks.actions import Actions
from functions.webhooks.breaker import Breaker
from functions.webhooks.publisher import Publisher
from functions.webhooks.sender import Sender
from functions.webhooks.sweeper import Sweeper
from functions.webhooks.worker import Worker


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def publisher() -> Publisher:
    """What the triggers call."""
    client = firestore.client()
    return Publisher(WallStore(client), DeliveryStore(client), task_queue(), _now)


@functools.cache
def worker() -> Worker:
    """What the task queues call."""
    client = firestore.client()
    deliveries = DeliveryStore(client)
    breaker = Breaker(deliveries, WebhookSettings(client), _now)
    return Worker(deliveries, _secrets(), sender(), task_queue(), breaker=breaker, now=_now)


@functools.cache
def sweeper() -> Sweeper:
    """What the schedule calls."""
    return Sweeper(DeliveryStore(firestore.client()), task_queue(), _now)


@functools.cache
def actions() -> Actions:
    """What an organizer calls."""
    client = firestore.client()
    deliveries = DeliveryStore(client)
    return Actions(
        WallStore(client), deliveries, _secrets(), task_queue(), worker=worker(), now=_now
    )


@functools.cache
def task_queue() -> TaskQueue:
    """Where tasks go: to the emulator where there is one."""
    # One of the two is never needed, and the client library alone is a third of a cold start.
    emulator = os.environ.get("CLOUD_TASKS_EMULATOR_HOST")
    if emulator:
        from functions.gcp.emulated_tasks import EmulatedTasks  # noqa: PLC0415

        return EmulatedTasks.of_environment(emulator)
    from functions.gcp.cloud_tasks import CloudTasks  # noqa: PLC0415

    return CloudTasks.of_environment()


@functools.cache
def _secrets() -> WebhookSecrets:
    return WebhookSecrets(firestore.client())


def sender() -> Sender:
    """What posts to receivers, with the authorities and addresses that are trusted here."""
    tls = ssl.create_default_context(cafile=certifi.where())
    further = parameters.webhook_ca_bundle()
    if further:
        tls.load_verify_locations(further)
    return Sender(tls, allow_loopback=parameters.webhook_allow_loopback())
