"""Design 2 and 5: the adapter of Cloud Tasks with a real gRPC server."""

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
def accepted() -> list[QueuedTask]:
    """Return the tasks that Cloud Tasks has accepted."""
    return []


@pytest.fixture
def service(accepted: list[QueuedTask]) -> Iterator[ApiServer]:
    """Run Cloud Tasks on loopback with one queue."""
    tasks = cloud_tasks.CloudTasks("my-wall", [TASK.queue], accepted.append, now=lambda: NOW)
    with ApiServer(tasks) as server:
        yield server


@pytest.fixture
def queue(service: ApiServer) -> CloudTasks:
    """Return the adapter, connected to it."""
    return CloudTasks.at_stand_in(service.address, "my-wall")


def test_a_task_has_queue_name_time_deadline_and_account(
    accepted: list[QueuedTask], queue: CloudTasks
) -> None:
    """Cloud Tasks calls the function with a token of the account."""
    queue.enqueue(TASK)
    assert accepted == [
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


def test_a_task_that_already_exists_is_a_success(
    service: ApiServer, accepted: list[QueuedTask], queue: CloudTasks
) -> None:
    """Design 2: names of tasks repeat."""
    queue.enqueue(TASK)
    queue.enqueue(TASK)
    assert (len(service.calls), len(accepted)) == (2, 1)


def test_a_temporary_fault_is_retried(
    service: ApiServer, accepted: list[QueuedTask], queue: CloudTasks
) -> None:
    """The name prevents a second task."""
    service.refuse("CreateTask", grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE)
    queue.enqueue(TASK)
    assert (len(service.calls), len(accepted)) == (3, 1)


def test_a_permanent_error_is_raised(service: ApiServer, queue: CloudTasks) -> None:
    """The trigger or worker fails and is repeated."""
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
def test_an_invalid_task_is_rejected(
    queue: CloudTasks, change: dict[str, Any], error: type[Exception]
) -> None:
    """The queue, the name, the time or the size can be invalid."""
    with pytest.raises(error):
        queue.enqueue(replace(TASK, **change))
