"""The adapter of Firestore with a real gRPC server: repetitions, timeouts and groups."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, Final

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import base_client, types
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from functions import environment
from functions.firestore.client import FirestoreDocuments, GroupedDocuments
from functions.firestore.model import (
    FIRESTORE_TIMEOUT_SECONDS,
    ChangedMeanwhileError,
    Create,
    Documents,
    Merge,
    Query,
    Update,
    Write,
    Written,
)
from functions.gcp.cloud_tasks import CloudTasks

SLOW_SECONDS: Final = 0.05
"""Duration of an error. The timeout of the next repetition is shorter by this."""
STREAMS: Final = {"BatchGetDocuments", "RunQuery", "RunAggregationQuery"}
GONE: Final = grpc.StatusCode.UNAVAILABLE
BAD: Final = "refused"
"""Firestore rejects a request with a write of this value."""

VERSION: Final = 1_700_000_000_000_000_000


class Timeouts(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Records the timeout of each call, which a server gets rounded."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def intercept_unary_unary(self, proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        """Record the timeout."""
        self.seconds.append(details.timeout)
        return proceed(details, request)

    def intercept_unary_stream(
        self, proceed: Callable[..., Any], details: Any, request: Any
    ) -> Any:
        """Record the timeout."""
        return self.intercept_unary_unary(proceed, details, request)


class Server(grpc.GenericRpcHandler):
    """Firestore with every document in version `VERSION`, and with scripted errors."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.refusals: list[grpc.StatusCode] = []
        self._grpc = grpc.server(ThreadPoolExecutor(8), handlers=[self])
        self.timeouts = Timeouts()
        port = self._grpc.add_insecure_port("127.0.0.1:0")
        self.channel = grpc.intercept_channel(
            grpc.insecure_channel(f"127.0.0.1:{port}"), self.timeouts
        )
        self._grpc.start()

    def service(self, details: Any) -> Any:
        """Answer a method."""
        method = details.method.rpartition("/")[2]

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.calls.append(method)
            if self.refusals:
                refusal = self.refusals.pop(0)
                time.sleep(SLOW_SECONDS)
                context.abort(refusal, "as scripted")
            answered: bytes = self._answer(method, request, context)
            return answered

        def stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            yield answer(request, context)

        if method in STREAMS:
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(answer)

    def _answer(self, method: str, request: bytes, context: grpc.ServicerContext) -> Any:
        if method == "RunAggregationQuery":
            found = types.AggregationResult(
                aggregate_fields={"count": types.Value(integer_value=3)}
            )
            return types.RunAggregationQueryResponse.serialize(
                types.RunAggregationQueryResponse(result=found)
            )
        if method not in ("Commit", "BatchWrite"):
            return b""
        asked: Any = getattr(types, f"{method}Request").deserialize(request)
        if any(BAD in str(write) for write in asked.writes):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a value is refused")
        statuses = [_status(write) for write in asked.writes]
        if method == "Commit":
            if any(status.code for status in statuses):
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, "another version")
            results = [_result(write) for write in asked.writes]
            return types.CommitResponse.serialize(types.CommitResponse(write_results=results))
        return types.BatchWriteResponse.serialize(
            types.BatchWriteResponse(
                # Firestore sends a result for a failed write as well.
                write_results=[_result(write) for write in asked.writes],
                status=statuses,
            )
        )

    def close(self) -> None:
        """Stop the server."""
        self.channel.close()
        self._grpc.stop(None).wait()


def _result(write: types.Write) -> types.WriteResult:
    sums = [types.Value(integer_value=7) for _ in write.update_transforms]
    return types.WriteResult(update_time={"seconds": VERSION // 10**9 + 1}, transform_results=sums)


def _status(write: types.Write) -> Status:
    condition = types.Write.pb(write).current_document
    is_refused = (
        condition.HasField("update_time") and condition.update_time.ToNanoseconds() != VERSION
    )
    return Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0] if is_refused else 0)


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a new server for each test."""
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=[FirestoreDocuments, GroupedDocuments])
def documents(request: pytest.FixtureRequest, server: Server) -> Documents:
    """Return the adapter, connected to the server."""
    found: Documents = request.param.through(server.channel, "my-wall")
    return found


def update(name: str, value: str = "", version: int = VERSION) -> Update:
    """Return the write of a field."""
    return Update(f"users/{name}", {"value": value}, version=version)


@pytest.mark.parametrize(
    ("adapter", "transport"),
    [(FirestoreDocuments, FirestoreGrpcTransport), (CloudTasks, CloudTasksGrpcTransport)],
)
def test_the_channel_has_the_librarys_options(
    monkeypatch: pytest.MonkeyPatch, adapter: Any, transport: type
) -> None:
    """Keep connections alive as the library's own client does. Do not connect at creation."""
    assert list(environment.CHANNEL_OPTIONS) == base_client._DEFAULT_CHANNEL_OPTIONS  # noqa: SLF001
    options = []

    def channel(*_: Any, **given: Any) -> grpc.Channel:
        options.append(given["options"])
        return grpc.insecure_channel("127.0.0.1:9")

    own = SimpleNamespace(service_account_email="wall@my-wall.iam.gserviceaccount.com")
    monkeypatch.setattr(transport, "create_channel", channel)
    monkeypatch.setattr(environment, "credentials", lambda: (own, "my-wall"))
    for name in ("FIRESTORE_EMULATOR_HOST", "GOOGLE_API_STAND_INS"):
        monkeypatch.delenv(name, raising=False)
    assert adapter.from_environment()
    assert options == [environment.CHANNEL_OPTIONS]


CALLS: Final[dict[str, Callable[[Documents], object]]] = {
    "a document": lambda documents: documents.get("users/u1"),
    "documents": lambda documents: documents.get_all(["users/u1", "users/u2"]),
    "a query": lambda documents: documents.find(Query(collection="users")),
    "a count": lambda documents: documents.count(Query(collection="users")),
    "a creation": lambda documents: documents.commit(Create("users/u1", {})),
    "an update": lambda documents: documents.commit(update("u1")),
    "writes": lambda documents: documents.write_each([update("u1"), update("u2")]),
    "a sum": lambda documents: documents.commit(Merge("users/u1", add={"count": 1})),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_timeout_includes_all_repetitions(
    server: Server, documents: Documents, call: str
) -> None:
    """A repeated call gets the remaining time. This includes streams and calls of a group."""
    server.refusals = [GONE, GONE]
    CALLS[call](documents)
    first, _, third = server.timeouts.seconds
    assert FIRESTORE_TIMEOUT_SECONDS / 2 < first <= FIRESTORE_TIMEOUT_SECONDS
    assert third <= first - 2 * SLOW_SECONDS


def test_the_last_repetition_gets_no_new_timeout(server: Server) -> None:
    """A repetition shortly before the timeout fails at the timeout."""
    documents = FirestoreDocuments.through(server.channel, "my-wall")
    server.refusals = [GONE] * 99
    with pytest.raises(exceptions.RetryError):
        documents.get("users/u1", seconds=2)
    assert len(server.calls) > 1
    assert server.timeouts.seconds[-1] < 2 - SLOW_SECONDS


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        (GONE, 2),
        (grpc.StatusCode.DEADLINE_EXCEEDED, 1),
        (grpc.StatusCode.ABORTED, 1),
        (grpc.StatusCode.INTERNAL, 1),
    ],
)
def test_a_sum_is_repeated_only_after_a_lost_connection(
    server: Server, documents: Documents, code: grpc.StatusCode, calls: int
) -> None:
    """The client library does the same, so that the first call after a pause succeeds."""
    server.refusals = [code]
    if calls == 1:
        with pytest.raises(exceptions.GoogleAPICallError):
            CALLS["a sum"](documents)
    else:
        CALLS["a sum"](documents)
    assert server.calls == ["Commit"] * calls


def test_each_write_of_a_group_has_its_own_status(documents: Documents) -> None:
    """Firestore sends a result for a failed write, too."""
    writes = [update("u1"), update("u2", version=5), update("u1"), update("u3")]
    results = documents.write_each(writes)
    assert [type(result) for result in results] == [
        Written,
        ChangedMeanwhileError,
        exceptions.Aborted,
        Written,
    ]


def test_a_rejected_write_does_not_fail_the_others_of_its_group(server: Server) -> None:
    """If Firestore rejects a whole group, send each of its writes separately."""
    documents = GroupedDocuments.through(server.channel, "my-wall")
    writes: dict[str, Sequence[Write]] = {f"u{n}": [update(f"u{n}")] for n in range(8)}
    writes |= {"bad": [update("bad", BAD)], "stale": [update("stale", version=5)]}
    writes |= {"unknown": [Update("users/u9", {"value": object()}, version=VERSION)]}

    def outcome(name: str) -> str:
        try:
            documents.commit(*writes[name])
        except Exception as error:  # noqa: BLE001 - the error is compared
            return type(error).__name__
        return "Written"

    server.refusals = [GONE]  # delays the first group, so that the next one gathers
    with ThreadPoolExecutor(len(writes)) as threads:
        found = dict(zip(writes, threads.map(outcome, writes), strict=True))
    assert found == dict.fromkeys(writes, "Written") | {
        "bad": "InvalidArgument",
        "stale": "ChangedMeanwhileError",
        "unknown": "TypeError",
    }
    assert server.calls.count("BatchWrite") < len(writes)


def test_a_rejected_read_does_not_fail_the_others_of_its_group(server: Server) -> None:
    """If Firestore rejects a whole group, read each of its documents separately."""
    documents = GroupedDocuments.through(server.channel, "my-wall")
    server.refusals = [GONE, grpc.StatusCode.INVALID_ARGUMENT]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(documents.get, [f"users/u{n}" for n in range(8)]))  # raises nothing
    assert server.calls.count("GetDocument") > 1
