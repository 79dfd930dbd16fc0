"""Connections that go silent before the tests of the store begin."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from emulator.cloud import cloud_tasks
from emulator.cloud.api_server import ApiServer
from functions.firestore.client import FirestoreDocuments
from functions.gcp.cloud_tasks import CloudTasks
from functions.ports import Task
from tests.suite.tcp_proxy import TcpProxy

_LIMIT_SECONDS: Final = 240
"""A connection that gRPC does not give up is silent for ever; a busy machine takes its time."""
_QUEUE: Final = "retryWebhookAfter1s"


@pytest.fixture(scope="session", autouse=True)
def silent() -> Iterator[dict[str, Future[float]]]:
    """Return the seconds until Firestore and Cloud Tasks respond after a silent connection.

    gRPC notices after 30 s without data and 20 s without a response to its ping. No event reports
    that, so the other tests run in the meantime.
    """
    with ExitStack() as stack:
        tasks = cloud_tasks.CloudTasks("my-wall", [_QUEUE], lambda _: None, now=_now)
        server = stack.enter_context(ApiServer(tasks))
        to_firestore = stack.enter_context(TcpProxy(os.environ["FIRESTORE_EMULATOR_HOST"]))
        to_tasks = stack.enter_context(TcpProxy(server.address))
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FIRESTORE_EMULATOR_HOST", to_firestore.address)
            documents = FirestoreDocuments.from_environment()
        queue = CloudTasks.at_stand_in(to_tasks.address, "my-wall")
        calls: dict[str, Callable[[], Any]] = {
            "Firestore": lambda: documents.get("users/nobody"),
            "Cloud Tasks": lambda: queue.enqueue(Task(queue=_QUEUE, name="t", data={}, due=_now())),
        }
        for call in calls.values():
            call()
        for proxy in (to_firestore, to_tasks):
            proxy.silence()
        threads = stack.enter_context(ThreadPoolExecutor())
        yield {name: threads.submit(_seconds_until, call) for name, call in calls.items()}


def _seconds_until(call: Callable[[], object]) -> float:
    """Return the seconds until `call` succeeds."""
    begun = time.monotonic()
    while True:
        try:
            call()
        except Exception:
            if time.monotonic() - begun > _LIMIT_SECONDS:
                raise
        else:
            return time.monotonic() - begun


def _now() -> datetime:
    return datetime.now(UTC)
