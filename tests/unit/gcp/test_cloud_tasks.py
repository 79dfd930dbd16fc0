"""Design 2 and 5: Cloud Tasks in production is gRPC; its path, against a real gRPC server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.api_core import exceptions

from emulator.cloud import cloud_tasks
from emulator.cloud.api_server import ApiServer
from emulator.cloud.cloud_tasks import QueuedTask
from functions.gcp.cloud_tasks import CloudTasks
from functions.ports import Task

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
DUE = datetime(2026, 5, 1, 18, 30, 1, 250_000, tzinfo=UTC)
TASK = Task(
    queue="retryWebhookAfter1s",
    name="d1-2",
    data={"eventId": "e1", "deliveryId": "d1", "attempt": 2},
    due=DUE,
)


@pytest.fixture
def taken() -> list[QueuedTask]:
    """The tasks that Cloud Tasks has taken."""
    return []


@pytest.fixture
def service(taken: list[QueuedTask]) -> Iterator[ApiServer]:
    """Cloud Tasks on a port of loopback, with one queue."""
    tasks = cloud_tasks.CloudTasks("my-wall", [TASK.queue], taken.append, now=lambda: NOW)
    with ApiServer(tasks) as server:
        yield server


@pytest.fixture
def queue(service: ApiServer) -> CloudTasks:
    """The adapter, connected to it."""
    return CloudTasks.at_stand_in(service.address, "my-wall")


def test_a_task_as_cloud_tasks_gets_it(taken: list[QueuedTask], queue: CloudTasks) -> None:
    """A task has queue, name, schedule time and deadline, and carries a token of the account."""
    queue.enqueue(TASK)
    assert taken == [
        QueuedTask(
            queue="retryWebhookAfter1s",
            name="d1-2",
            body=json.dumps({"data": TASK.data}).encode(),
            due=DUE.timestamp(),
            deadline_seconds=60,
            account="local@my-wall.iam.gserviceaccount.com",
            url="https://us-central1-my-wall.cloudfunctions.net/retryWebhookAfter1s",
        )
    ]


def test_a_task_that_exists_is_a_success(
    service: ApiServer, taken: list[QueuedTask], queue: CloudTasks
) -> None:
    """Design 2: task names repeat, and ALREADY_EXISTS is success."""
    queue.enqueue(TASK)
    queue.enqueue(TASK)
    assert (len(service.calls), len(taken)) == (2, 1)


def test_a_passing_fault_is_tried_again(
    service: ApiServer, taken: list[QueuedTask], queue: CloudTasks
) -> None:
    """A named task can be sent twice without harm."""
    service.refuse("CreateTask", grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE)
    queue.enqueue(TASK)
    assert (len(service.calls), len(taken)) == (3, 1)


def test_a_refusal_fails_the_caller(service: ApiServer, queue: CloudTasks) -> None:
    """The trigger or worker fails, and is run again."""
    service.refuse("CreateTask", grpc.StatusCode.PERMISSION_DENIED)
    with pytest.raises(exceptions.PermissionDenied):
        queue.enqueue(TASK)
    assert len(service.calls) == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"queue": "none"}, exceptions.NotFound),
        ({"name": "d1:2"}, exceptions.InvalidArgument),
        ({"name": "d" * 501}, exceptions.InvalidArgument),
        ({"due": NOW + timedelta(days=31)}, exceptions.InvalidArgument),
        ({"data": {"eventId": "e" * 1024 * 1024}}, exceptions.InvalidArgument),
    ],
)
def test_what_cloud_tasks_refuses(
    queue: CloudTasks, change: dict[str, Any], error: type[Exception]
) -> None:
    """A task is refused for its queue, its name, its time or its size."""
    with pytest.raises(error):
        queue.enqueue(replace(TASK, **change))
