"""Design 2 and 5: Cloud Tasks in production is gRPC; its path, against a real gRPC server."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import tasks_v2
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport

from functions.gcp.cloud_tasks import CloudTasks
from functions.gcp.task_queue import Task

DUE = datetime(2026, 5, 1, 18, 30, 1, 250_000, tzinfo=UTC)
TASK = Task(
    queue="retryWebhookAfter1s",
    name="d1-2",
    data={"eventId": "e1", "deliveryId": "d1", "attempt": 2},
    due=DUE,
)


@dataclass
class Service:
    """The CreateTask method of google.cloud.tasks.v2.CloudTasks, which keeps a name for ever."""

    address: str = ""
    refusals: list[grpc.StatusCode] = field(default_factory=list)
    calls: int = 0
    tasks: dict[str, Any] = field(default_factory=dict)

    def create_task(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Refuse as told, or queue the task."""
        self.calls += 1
        if self.refusals:
            context.abort(self.refusals.pop(0), "as told")
        if request.task.name in self.tasks:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "the task exists")
        self.tasks[request.task.name] = request
        return request.task


@pytest.fixture
def service() -> Iterator[Service]:
    """The service on a port of loopback."""
    made = Service()
    server = grpc.server(ThreadPoolExecutor(2))
    method = grpc.unary_unary_rpc_method_handler(
        made.create_task,
        request_deserializer=tasks_v2.CreateTaskRequest.deserialize,
        response_serializer=tasks_v2.Task.serialize,
    )
    name = "google.cloud.tasks.v2.CloudTasks"
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(name, {"CreateTask": method}),)
    )
    made.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield made
    server.stop(None).wait()


@pytest.fixture
def queue(service: Service) -> CloudTasks:
    """The adapter, connected to it."""
    channel = grpc.insecure_channel(service.address)
    client = tasks_v2.CloudTasksClient(transport=CloudTasksGrpcTransport(channel=channel))
    return CloudTasks(client, "my-wall", "runner@my-wall.iam.gserviceaccount.com")


def test_a_task_as_cloud_tasks_gets_it(service: Service, queue: CloudTasks) -> None:
    """Queue, name, schedule time, dispatch deadline, and a call with a token of the account."""
    queue.enqueue(TASK)
    parent = "projects/my-wall/locations/us-central1/queues/retryWebhookAfter1s"
    url = "https://us-central1-my-wall.cloudfunctions.net/retryWebhookAfter1s"
    [request] = service.tasks.values()
    assert request.parent == parent
    task = request.task
    assert task.name == f"{parent}/tasks/d1-2"
    assert task.schedule_time == DUE
    assert task.dispatch_deadline.total_seconds() == 60
    assert task.http_request.url == url
    assert task.http_request.http_method == tasks_v2.HttpMethod.POST
    assert task.http_request.headers["Content-Type"] == "application/json"
    assert json.loads(task.http_request.body) == {"data": TASK.data}
    assert task.http_request.oidc_token.audience == url
    assert (
        task.http_request.oidc_token.service_account_email
        == "runner@my-wall.iam.gserviceaccount.com"
    )


def test_a_task_that_exists_is_a_success(service: Service, queue: CloudTasks) -> None:
    """Design 2: task names repeat, and ALREADY_EXISTS is success."""
    queue.enqueue(TASK)
    queue.enqueue(TASK)
    assert (service.calls, len(service.tasks)) == (2, 1)


def test_a_passing_fault_is_tried_again(service: Service, queue: CloudTasks) -> None:
    """A named task can be sent twice without harm."""
    service.refusals = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE]
    queue.enqueue(TASK)
    assert (service.calls, len(service.tasks)) == (3, 1)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, exceptions.PermissionDenied),
        (grpc.StatusCode.NOT_FOUND, exceptions.NotFound),
        (grpc.StatusCode.INVALID_ARGUMENT, exceptions.InvalidArgument),
    ],
)
def test_a_refusal_fails_the_caller(
    service: Service, queue: CloudTasks, code: grpc.StatusCode, error: type[Exception]
) -> None:
    """The trigger or worker fails, and is run again."""
    service.refusals = [code]
    with pytest.raises(error):
        queue.enqueue(TASK)
    assert service.calls == 1
