"""What a piece of work costs, counted where it leaves this process: calls, documents, tasks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.cloud import firestore
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

from functions.gcp.task_queue import Task
from tests.suite.costs import Cost


@dataclass(slots=True)
class Operations:
    """Calls by method, and the documents that they read and wrote."""

    calls: Counter[str] = field(default_factory=Counter)
    reads: int = 0
    writes: int = 0
    tasks: list[Task] = field(default_factory=list)

    @property
    def rpcs(self) -> int:
        """Firestore calls in all."""
        return self.calls.total()

    def enqueue(self, task: Task) -> None:
        """Be the queue: count the task."""
        self.tasks.append(task)

    def cost(self, *, posts: int = 0, mail_requests: int = 0) -> Cost:
        """All that was counted, beside what others have counted."""
        return Cost(
            rpcs=self.rpcs,
            reads=self.reads,
            writes=self.writes,
            tasks=len(self.tasks),
            posts=posts,
            mail_requests=mail_requests,
        )

    def clear(self) -> None:
        """Count from nothing again."""
        self.calls.clear()
        self.reads = self.writes = 0
        self.tasks.clear()


class _Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    def __init__(self, counted: Operations) -> None:
        self._counted = counted

    def intercept_unary_unary(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        self._count(details, request)
        return go_on(details, request)

    def intercept_unary_stream(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        self._count(details, request)
        return go_on(details, request)

    def _count(self, details: Any, request: Any) -> None:
        method = details.method.rpartition("/")[2]
        self._counted.calls[method] += 1
        if method == "GetDocument":
            self._counted.reads += 1
        elif method == "BatchGetDocuments":
            self._counted.reads += len(request.documents)
        elif method in ("RunQuery", "RunAggregationQuery"):
            self._counted.reads += 1  # billed as one at least; these are limited to one
        elif method in ("Commit", "BatchWrite"):
            self._counted.writes += len(request.writes)


def counting_client(project: str, host: str, counted: Operations) -> firestore.Client:
    """A Firestore client of the emulator at `host` whose every call is counted."""
    client = firestore.Client(project=project)
    channel = grpc.intercept_channel(grpc.insecure_channel(host), _Interceptor(counted))
    transport = FirestoreGrpcTransport(host=host, channel=channel)
    client._firestore_api_internal = FirestoreClient(transport=transport)  # noqa: SLF001 - no other way in
    return client
