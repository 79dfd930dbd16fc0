"""The webhooks' parts, put together for this process on first use.

Each imports what it needs when it is needed: an instance runs one function, and waits for no more
than that one's parts.
"""

from __future__ import annotations

import functools
import os
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from functions.gcp.task_queue import Task
    from functions.webhooks.actions import Actions
    from functions.webhooks.endpoints.http_sender import HttpSender
    from functions.webhooks.notice_sweeper import NoticeSweeper
    from functions.webhooks.ports import Secrets, TaskQueue
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.sweeper import Sweeper
    from functions.webhooks.worker import Worker

_AT_ONCE: Final = 20
"""Tasks queued, or rounds begun, at the same time: the URLs of one event."""


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def publisher() -> Publisher:
    """What the triggers call."""
    from functions.gcp.documents import documents
    from functions.side_by_side import Threads
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.wall_store import WallStore

    return Publisher(
        wall=WallStore(documents()),
        deliveries=DeliveryStore(documents()),
        queue=_queue(),
        side_by_side=Threads(_AT_ONCE, "enqueue"),
        now=_now,
        monotonic=time.monotonic,
    )


@functools.cache
def worker() -> Worker:
    """What the task queues call."""
    from functions.gcp.documents import documents
    from functions.webhooks.endpoint_health import EndpointHealth
    from functions.webhooks.failure_marks import FailureMarks
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.notice_store import NoticeStore
    from functions.webhooks.store.settings_store import SettingsStore
    from functions.webhooks.worker import Worker

    deliveries = DeliveryStore(documents())
    endpoint_health = EndpointHealth(
        deliveries=deliveries,
        settings=SettingsStore(),
        marks=FailureMarks(notices=NoticeStore(documents()), queue=_queue(), now=_now),
        now=_now,
        monotonic=time.monotonic,
    )
    return Worker(
        deliveries=deliveries,
        secrets=_secrets(),
        sender=sender(),
        queue=_queue(),
        endpoint_health=endpoint_health,
        now=_now,
        monotonic=time.monotonic,
        sleep=time.sleep,
    )


@functools.cache
def sweeper() -> Sweeper:
    """What the schedule calls."""
    from functions.gcp.documents import documents
    from functions.side_by_side import Threads
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.sweeper import Sweeper

    return Sweeper(
        deliveries=DeliveryStore(documents()),
        queue=_queue(),
        side_by_side=Threads(_AT_ONCE, "sweep"),
        now=_now,
    )


@functools.cache
def notice_sweeper() -> NoticeSweeper:
    """What the schedule calls as well."""
    from functions.gcp.documents import documents
    from functions.side_by_side import Threads
    from functions.webhooks.notice_sweeper import NoticeSweeper
    from functions.webhooks.store.notice_store import NoticeStore

    return NoticeSweeper(
        notices=NoticeStore(documents()),
        queue=_queue(),
        side_by_side=Threads(_AT_ONCE, "notices"),
        now=_now,
    )


@functools.cache
def actions() -> Actions:
    """What an organizer calls."""
    from functions.gcp.documents import documents
    from functions.side_by_side import Threads
    from functions.webhooks.actions import Actions
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.wall_store import WallStore

    return Actions(
        wall=WallStore(documents()),
        deliveries=DeliveryStore(documents()),
        secrets=_secrets(),
        queue=_queue(),
        worker=worker(),
        side_by_side=Threads(_AT_ONCE, "resend"),
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
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
def _queue() -> TaskQueue:
    from functions.gcp import parameters
    from functions.gcp.documents import documents
    from functions.webhooks.store.wall_store import WallStore
    from functions.webhooks.tenant_queues import TenantQueues

    return TenantQueues(
        _QueueOnDemand(),
        wall=WallStore(documents()),
        queues=parameters.DELIVERY_QUEUES.value,
        monotonic=time.monotonic,
    )


@functools.cache
def _secrets() -> Secrets:
    from functions.gcp.documents import documents
    from functions.webhooks.store.secret_store import SecretStore

    return SecretStore(documents(), now=_now, monotonic=time.monotonic)


def sender() -> HttpSender:
    """What posts to receivers, with the authorities and addresses that are trusted here."""
    import ssl

    import certifi

    from functions.gcp import parameters
    from functions.webhooks.endpoints.http_sender import HttpSender
    from functions.webhooks.endpoints.resolver import SystemResolver
    from functions.webhooks.endpoints.share import Limits

    tls = ssl.create_default_context(cafile=certifi.where())
    further = parameters.webhook_ca_bundle()
    if further:
        tls.load_verify_locations(further)
    return HttpSender(
        tls,
        resolve=SystemResolver.of_system(time.monotonic),
        limits=Limits(
            at_a_time=parameters.WEBHOOK_POSTS_AT_A_TIME.value,
            a_second=parameters.WEBHOOK_POSTS_A_SECOND.value,
        ),
        ports=parameters.webhook_ports(),
        monotonic=time.monotonic,
        sleep=time.sleep,
        allow_loopback=parameters.webhook_allow_loopback(),
    )
