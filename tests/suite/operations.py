"""Cost of an operation, counted at the border of this process: calls, documents, tasks."""

import math
import os
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Self

import grpc
from flask import Request
from werkzeug.test import EnvironBuilder

from bench.costs import Cost
from emulator.mailbox import Mailbox
from functions.call.caller import Caller, Role
from functions.firestore.client import FirestoreDocuments
from functions.firestore.model import Documents
from functions.gcp.callables import Call, StaffCall
from functions.mail.sendgrid import SendGridMailer
from functions.parameters import Parameters
from functions.ports import Task
from functions.process import CLOCK, ProcessThreads, SystemRandom, secret_reader
from functions.service import Service
from tests.in_memory.adapters import InMemorySecrets, service_on

ENTRIES_A_READ: Final = 1000
"""Index entries that an aggregation counts for the price of one read."""


@dataclass(slots=True)
class Operations:
    """Calls by method, and the documents that they read and wrote, as Firestore bills them.

    A query is billed for each document that it returns, and for at least one. A read by name is
    billed even if the document does not exist.

    https://cloud.google.com/firestore/native/docs/pricing
    """

    calls: Counter[str] = field(default_factory=Counter)
    reads: int = 0
    writes: int = 0
    tasks: list[Task] = field(default_factory=list)
    _adding: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def rpcs(self) -> int:
        """Firestore calls in all."""
        return self.calls.total()

    def enqueue(self, task: Task) -> None:
        """Be the queue: count the task."""
        self.tasks.append(task)

    def cost(self, *, posts: int = 0, mail_requests: int = 0) -> Cost:
        """Return everything that was counted, without the counts of others."""
        return Cost(
            rpcs=self.rpcs,
            reads=self.reads,
            writes=self.writes,
            tasks=len(self.tasks),
            posts=posts,
            mail_requests=mail_requests,
        )

    def called(self, method: str, *, reads: int = 0, writes: int = 0) -> None:
        """Count a call. Safe in any thread."""
        with self._adding:
            self.calls[method] += 1
            self.reads += reads
            self.writes += writes

    def returned(self, reads: int) -> None:
        """Count the documents that a call has returned beyond those counted with it."""
        with self._adding:
            self.reads += reads

    def clear(self) -> None:
        """Count from nothing again."""
        self.calls.clear()
        self.reads = self.writes = 0
        self.tasks.clear()


class _Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    def __init__(self, counted: Operations) -> None:
        self._counted = counted

    def intercept_unary_unary(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        self._count(_name(details), request)
        return go_on(details, request)

    def intercept_unary_stream(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        method = _name(details)
        self._count(method, request)
        return _Stream(go_on(details, request), method, self._counted)

    def _count(self, method: str, request: Any) -> None:
        if method == "GetDocument":
            self._counted.called(method, reads=1)
        elif method == "BatchGetDocuments":
            self._counted.called(method, reads=len(request.documents))
        elif method in _QUERIES:
            self._counted.called(method, reads=1)
        elif method in ("Commit", "BatchWrite"):
            self._counted.called(method, writes=len(request.writes))
        else:
            self._counted.called(method)


class _Stream:
    """Responses to a call. Those to a query are counted as they arrive."""

    def __init__(self, answers: Any, method: str, counted: Operations) -> None:
        self._answers = answers
        self._reads_in = _QUERIES.get(method)
        self._counted = counted
        self._reads = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        answer = next(self._answers)
        if self._reads_in and (reads := self._reads_in(answer)):
            self._counted.returned(reads if self._reads else reads - 1)  # one is counted already
            self._reads += reads
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answers, name)


def _documents(answer: Any) -> int:
    return 1 if answer.document.name else 0


def _index_entries(answer: Any) -> int:
    counts = [value.integer_value for value in answer.result.aggregate_fields.values()]
    return math.ceil(max(counts, default=0) / ENTRIES_A_READ)


_QUERIES: Final = {"RunQuery": _documents, "RunAggregationQuery": _index_entries}


def _name(details: Any) -> str:
    method: str = details.method
    return method.rpartition("/")[2]


def counting_documents(counted: Operations, project: str | None = None) -> Documents:
    """Return documents of the emulator that count every call.

    They are those of the suite's project, unless another `project` is given.
    """
    channel = grpc.insecure_channel(os.environ["FIRESTORE_EMULATOR_HOST"])
    counting = grpc.intercept_channel(channel, _Interceptor(counted))
    return FirestoreDocuments.through(counting, project or os.environ["GCLOUD_PROJECT"])


def counting_service(counted: Operations, project: str | None = None, **given: Any) -> Service:
    """Build a service whose calls of Firestore and tasks are counted.

    `given` replaces its adapters. `project` is that of `counting_documents`.
    """
    adapters: dict[str, Any] = {
        "clock": CLOCK,
        "task_queue": counted,
        "secrets": secret_reader(),
        "threads": ProcessThreads(),
        "random": SystemRandom(),
        "parameters": Parameters(photo_hosts="*"),
    }
    documents = counting_documents(counted, project)
    return service_on(documents, **(adapters | given))


def mailing_service(counted: Operations, mailbox: Mailbox, project: str | None = None) -> Service:
    """Return the same service, with `mailbox` as its email provider."""
    mailer = SendGridMailer(InMemorySecrets(), mailbox.url, CLOCK)
    return counting_service(counted, project, mailer=lambda: mailer)


def link_call(function: str, address: str, **data: object) -> Call:
    """Call a function of links in this process, as a client with this IP address."""
    raw = Request(EnvironBuilder(headers=[("X-Forwarded-For", address)]).get_environ())
    return Call(function=function, data=data, request=raw)


def admit_staff(function: str, service: Service) -> None:
    """Count a call of staff, as each handler does first."""
    uid = uuid.uuid4().hex
    caller = Caller(uid, Role.ADMIN, "acme")
    call = StaffCall(function=function, data={}, request=Request({}), caller=caller, claims={})
    service.admission.count_staff_call(call)
