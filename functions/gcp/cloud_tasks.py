"""Adapter for Cloud Tasks.

https://cloud.google.com/tasks/docs/reference/rpc/google.cloud.tasks.v2
"""

from dataclasses import dataclass
from typing import Final, Self

import google.auth.transport.requests
import grpc
from google.api_core import exceptions
from google.api_core.retry import Retry, if_exception_type
from google.cloud import tasks_v2
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport
from google.protobuf import duration_pb2

from functions import environment, local_suite, ports

_RETRY: Final = Retry(
    predicate=if_exception_type(exceptions.ServiceUnavailable, exceptions.DeadlineExceeded),
    initial=0.1,
    maximum=2.0,
    timeout=ports.TASKS_TIMEOUT_SECONDS,
)
"""Safe for named tasks, because creating a task with the same name again has no effect."""


@dataclass(frozen=True, slots=True)
class CloudTasks:
    """Adapter for `TaskQueue`: creates tasks that call this project's functions."""

    client: tasks_v2.CloudTasksClient
    project: str
    account: str
    """Email address of the service account that calls the functions."""

    @classmethod
    def from_environment(cls) -> Self:
        """Create an adapter with the credentials of this function."""
        if stand_ins := local_suite.api_stand_ins():
            return cls.at_stand_in(stand_ins, environment.project_id() or "")
        given, project = environment.credentials()
        account = getattr(given, "service_account_email", "default")
        if account == "default":  # the metadata server sends the address with the first token
            given.refresh(google.auth.transport.requests.Request())
            account = given.service_account_email
        channel = CloudTasksGrpcTransport.create_channel(
            tasks_v2.CloudTasksClient.DEFAULT_ENDPOINT,
            credentials=given,
            options=environment.CHANNEL_OPTIONS,
        )
        return cls.through(channel, environment.project_id() or project, account)

    @classmethod
    def at_stand_in(cls, address: str, project: str) -> Self:
        """Create an adapter for a stand-in at `host:port`, which needs no credentials."""
        channel = grpc.insecure_channel(address, options=environment.CHANNEL_OPTIONS)
        return cls.through(channel, project, f"local@{project}.iam.gserviceaccount.com")

    @classmethod
    def through(cls, channel: grpc.Channel, project: str, account: str) -> Self:
        """Create an adapter that uses `channel`."""
        transport = CloudTasksGrpcTransport(channel=channel)
        return cls(tasks_v2.CloudTasksClient(transport=transport), project, account)

    def enqueue(self, task: ports.Task) -> None:
        """Enqueue `task`. Succeed without effect if a task with that name was ever enqueued."""
        url = f"https://{ports.LOCATION}-{self.project}.cloudfunctions.net/{task.queue}"
        parent = self.client.queue_path(self.project, ports.LOCATION, task.queue)
        request = tasks_v2.Task(
            name=f"{parent}/tasks/{task.name}",
            schedule_time=task.due,
            dispatch_deadline=duration_pb2.Duration(seconds=task.seconds),
            http_request=tasks_v2.HttpRequest(
                url=url,
                http_method=tasks_v2.HttpMethod.POST,
                headers={"Content-Type": "application/json"},
                body=task.body,
                oidc_token=tasks_v2.OidcToken(service_account_email=self.account, audience=url),
            ),
        )
        try:
            self.client.create_task(
                parent=parent, task=request, retry=_RETRY, timeout=ports.TASKS_TIMEOUT_SECONDS
            )
        except exceptions.AlreadyExists:
            return
