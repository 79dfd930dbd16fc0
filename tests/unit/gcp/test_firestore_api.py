"""The calls of Firestore, against a real gRPC server: what the client library sends is sent."""

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

from functions.gcp.documents import RETRY
from functions.gcp.firestore_api import FirestoreApi

DATABASE: Final = "projects/my-wall/databases/(default)"
DOCUMENTS: Final = f"{DATABASE}/documents"

REQUESTS: Final[Mapping[str, Any]] = {
    "get_document": types.GetDocumentRequest(name=f"{DOCUMENTS}/users/ä b&c=%2F+d"),
    "batch_get_documents": types.BatchGetDocumentsRequest(
        database=DATABASE, documents=[f"{DOCUMENTS}/users/u1"]
    ),
    "run_query": types.RunQueryRequest(parent=f"{DOCUMENTS}/events/e1"),
    "run_aggregation_query": types.RunAggregationQueryRequest(parent=DOCUMENTS),
    "begin_transaction": types.BeginTransactionRequest(database=DATABASE),
    "commit": types.CommitRequest(database=DATABASE, transaction=b"t"),
    "batch_write": types.BatchWriteRequest(database=DATABASE),
    "rollback": types.RollbackRequest(database=DATABASE, transaction=b"t"),
}
STREAMS: Final = {"batch_get_documents", "run_query", "run_aggregation_query"}


class Server(grpc.GenericRpcHandler):
    """Answers each call with an empty message, or with the next of `refusals`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, bytes, Counter[tuple[str, str | bytes]]]] = []
        self.refusals: list[grpc.StatusCode] = []
        self._grpc = grpc.server(ThreadPoolExecutor(4), handlers=[self])
        self.channel = grpc.insecure_channel(
            f"127.0.0.1:{self._grpc.add_insecure_port('127.0.0.1:0')}"
        )
        self._grpc.start()

    def service(self, details: Any) -> Any:
        """Keep the method, the request and the headers of a call."""

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            sent = Counter((name, value) for name, value in context.invocation_metadata())
            self.calls.append((details.method, request, sent))
            if self.refusals:
                context.abort(self.refusals.pop(0), "as told")
            return b""

        def stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            yield answer(request, context)

        if any(details.method.endswith(name.title().replace("_", "")) for name in STREAMS):
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(answer)

    def close(self) -> None:
        """Stop to listen."""
        self.channel.close()
        self._grpc.stop(None).wait()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own for each test."""
    server = Server()
    yield server
    server.close()


@pytest.mark.parametrize("method", REQUESTS)
def test_a_call_sends_what_the_client_library_sends(server: Server, method: str) -> None:
    """Method, message and headers are equal: routing, versions, and those that are given."""
    transport = FirestoreGrpcTransport(channel=server.channel, credentials=AnonymousCredentials())  # type: ignore[no-untyped-call]
    library, given = FirestoreClient(transport=transport), [("authorization", "Bearer owner")]
    request = REQUESTS[method]
    for answer in (
        getattr(library, method)(request, retry=None, timeout=5, metadata=given),
        getattr(FirestoreApi(server.channel, given), method)(type(request).pb(request), 5),
    ):
        assert method not in STREAMS or len(list(answer)) == 1
    first, second = server.calls
    assert second == first
    assert {"authorization", "x-goog-api-client", "x-goog-request-params"} <= {
        name for name, _ in second[2]
    }


def test_every_method_is_compared(server: Server) -> None:
    """The table of this test has every method that the service calls."""
    assert vars(FirestoreApi(server.channel)).keys() == REQUESTS.keys()


def test_a_passing_fault_is_tried_again(server: Server) -> None:
    """A retry makes the call again, and none is made without a retry."""
    api = FirestoreApi(server.channel)
    request = types.GetDocumentRequest.pb()(name=f"{DOCUMENTS}/users/u1")
    server.refusals = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED]
    assert api.get_document(request, 5, RETRY) == types.Document.pb()()
    assert len(server.calls) == 3
    server.refusals = [grpc.StatusCode.UNAVAILABLE]
    with pytest.raises(exceptions.ServiceUnavailable):
        api.get_document(request, 5)
    assert len(server.calls) == 4


def test_a_deployed_function_calls_google_through_the_librarys_channel() -> None:
    """The library makes the channel; nothing is connected before the first call."""
    assert FirestoreApi.at_google(AnonymousCredentials()).commit  # type: ignore[no-untyped-call]
