"""The webhooks' parts, put together for this process on first use.

Each imports what it needs when it is needed: an instance runs one function, and waits for no more
than that one's parts.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from functions.gcp.task_queue import Task
    from functions.webhooks.actions import Actions
    from functions.webhooks.deliveries.attempt_task import AttemptRequest
    from functions.webhooks.deliveries.delivery import Delivery
    from functions.webhooks.deliveries.pace import Pace
    from functions.webhooks.endpoints.connections import SocketAddress
    from functions.webhooks.endpoints.http_sender import HttpSender
    from functions.webhooks.endpoints.resolver import SystemResolver
    from functions.webhooks.notices.sweeper import NoticeSweeper
    from functions.webhooks.ports import Secrets, TaskQueue
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.shared_logs.log_links import LogLinks
    from functions.webhooks.shared_logs.shared_log import SharedLog
    from functions.webhooks.sweeper import Sweeper
    from functions.webhooks.worker import Worker

_AT_ONCE: Final = 20
"""Tasks queued, or rounds begun, at the same time: the URLs of one event."""

RESENDS_AN_HOUR: Final = 100
"""Through links, of the deliveries of an event to one URL."""


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def publisher() -> Publisher:
    """What the triggers call."""
    from functions.gcp.documents import documents
    from functions.side_by_side import HelpedThreads
    from functions.webhooks.publisher import Publisher
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.wall_store import WallStore

    return Publisher(
        wall=WallStore(documents()),
        deliveries=DeliveryStore(documents()),
        secrets=_secrets(),
        queue=_QueueOnDemand(),
        pace=_pace(),
        side_by_side=HelpedThreads(_AT_ONCE, "enqueue"),
        now=_now,
        monotonic=time.monotonic,
    )


@functools.cache
def worker() -> Worker:
    """What the task queues call."""
    from functions.gcp.documents import documents
    from functions.webhooks.deliveries.pace import SLOW_ATTEMPTS_A_SECOND, Pace
    from functions.webhooks.endpoint_health import EndpointHealth
    from functions.webhooks.notices.failure_marks import FailureMarks
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.notice_store import NoticeStore
    from functions.webhooks.store.settings_store import SettingsStore
    from functions.webhooks.worker import Worker

    # Its library is loaded while the first record is being read.
    threading.Thread(target=_resolver, name="resolver", daemon=True).start()
    deliveries = DeliveryStore(documents())
    endpoint_health = EndpointHealth(
        deliveries=deliveries,
        settings=SettingsStore(),
        marks=FailureMarks(notices=NoticeStore(documents()), queue=_QueueOnDemand(), now=_now),
        now=_now,
        monotonic=time.monotonic,
    )
    return Worker(
        deliveries=deliveries,
        secrets=_secrets(),
        sender=sender(),
        queue=_QueueOnDemand(),
        slow_pace=Pace(SLOW_ATTEMPTS_A_SECOND, time.monotonic),
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
        queue=_QueueOnDemand(),
        side_by_side=Threads(_AT_ONCE, "sweep"),
        now=_now,
    )


@functools.cache
def notice_sweeper() -> NoticeSweeper:
    """What the schedule calls as well."""
    from functions.gcp.documents import documents
    from functions.side_by_side import Threads
    from functions.webhooks.notices.sweeper import NoticeSweeper
    from functions.webhooks.store.notice_store import NoticeStore

    return NoticeSweeper(
        notices=NoticeStore(documents()),
        queue=_QueueOnDemand(),
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
        queue=_QueueOnDemand(),
        pace=_pace(),
        worker=_WorkerOnDemand(),
        side_by_side=Threads(_AT_ONCE, "resend"),
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )


@functools.cache
def log_links() -> LogLinks:
    """What an organizer calls to share a log."""
    from functions.gcp import parameters
    from functions.gcp.documents import documents
    from functions.signed_links.keys import token_keys
    from functions.webhooks.shared_logs.log_links import LogLinks
    from functions.webhooks.store.log_share_store import LogShareStore
    from functions.webhooks.store.wall_store import WallStore

    return LogLinks(
        wall=WallStore(documents()),
        shares=LogShareStore(documents()),
        keys=token_keys,
        base_url=parameters.PUBLIC_BASE_URL.value,
        now=_now,
        new_id=lambda: str(uuid.uuid4()),
    )


@functools.cache
def shared_log() -> SharedLog:
    """What the bearer of a link calls."""
    from functions.gcp.documents import documents
    from functions.webhooks.next_round import NextRound
    from functions.webhooks.shared_logs.shared_log import SharedLog
    from functions.webhooks.store.delivery_store import DeliveryStore
    from functions.webhooks.store.log_share_store import LogShareStore
    from functions.webhooks.store.wall_store import WallStore

    deliveries = DeliveryStore(documents())
    return SharedLog(
        wall=WallStore(documents()),
        deliveries=deliveries,
        shares=LogShareStore(documents()),
        next_round=NextRound(deliveries, _QueueOnDemand(), _pace(), _now),
        may_resend=_may_resend,
        now=_now,
    )


def _may_resend(name: str) -> bool:
    from functions.signed_links import keys, wiring
    from functions.signed_links.limiter import TooManyCallsError

    try:
        wiring.limiter().pass_or_raise(
            "resendSharedWebhook to", name, keys.values()[0], RESENDS_AN_HOUR
        )
    except TooManyCallsError:
        return False
    return True


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


class _WorkerOnDemand:
    """The worker of whoever may never need it: with its sender, and the authorities it trusts."""

    def attempt(self, request: AttemptRequest) -> Delivery | None:
        return worker().attempt(request)


@functools.cache
def _pace() -> Pace:
    """One for all that this process makes due."""
    from functions.gcp import parameters
    from functions.webhooks.deliveries.pace import Pace

    return Pace(parameters.EVENT_DELIVERIES_A_SECOND.value, time.monotonic)


@functools.cache
def _secrets() -> Secrets:
    from functions.gcp.documents import documents
    from functions.webhooks.store.secret_store import SecretStore

    return SecretStore(documents(), now=_now, monotonic=time.monotonic)


@functools.cache
def _resolver() -> SystemResolver:
    from functions.webhooks.endpoints.resolver import SystemResolver

    return SystemResolver.of_system(time.monotonic)


def _resolve(host: str, port: int, seconds: float) -> Sequence[SocketAddress]:
    return _resolver()(host, port, seconds)


def sender() -> HttpSender:
    """What posts to receivers, with the authorities and addresses that are trusted here."""
    import ssl

    import certifi

    from functions.gcp import parameters
    from functions.webhooks.endpoints.http_sender import HttpSender

    tls = ssl.create_default_context(cafile=certifi.where())
    further = parameters.webhook_ca_bundle()
    if further:
        tls.load_verify_locations(further)
    return HttpSender(
        tls,
        resolve=_resolve,
        ports=parameters.webhook_ports(),
        monotonic=time.monotonic,
        allow_loopback=parameters.webhook_allow_loopback(),
    )
