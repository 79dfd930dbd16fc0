"""The methods of Firestore's API that are used, without the client library's wrapper of each call.

The wrapper takes a third of a call's CPU. The channel is the library's, with its address,
credentials and certificates. The headers are those that the library sends, and a test compares
them. Requests and answers are protobuf's own messages.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#google.firestore.v1.Firestore
"""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import grpc
from google.api_core.gapic_v1 import routing_header
from google.api_core.grpc_helpers import wrap_errors
from google.api_core.retry import Retry
from google.api_core.timeout import TimeToDeadlineTimeout
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.cloud.firestore_v1.services.firestore.transports.base import DEFAULT_CLIENT_INFO
from google.protobuf.empty_pb2 import Empty

from functions.gcp.project import credentials, project_id
from functions.once import once

_OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # A thread for each stream takes a third of the CPU that a stream of 16 documents takes.
    (grpc.experimental.ChannelOptions.SingleThreadedUnaryStream, 1),
)


class FirestoreApi:
    """Methods by their names in the client library."""

    def __init__(self, channel: grpc.Channel, metadata: Sequence[tuple[str, str]] = ()) -> None:
        """Call through `channel`; every call sends `metadata`."""
        headers = (*metadata, DEFAULT_CLIENT_INFO.to_grpc_metadata())  # type: ignore[no-untyped-call]
        one = functools.partial(_Method, channel.unary_unary, headers)
        many = functools.partial(_Method, channel.unary_stream, headers)
        self.get_document = one("GetDocument", "name", types.Document.pb())
        self.batch_get_documents = many("BatchGetDocuments", "database")
        self.run_query = many("RunQuery", "parent")
        self.run_aggregation_query = many("RunAggregationQuery", "parent")
        self.begin_transaction = one("BeginTransaction", "database")
        self.commit = one("Commit", "database")
        self.batch_write = one("BatchWrite", "database")
        self.rollback = one("Rollback", "database", Empty)

    @classmethod
    def at_google(cls, credentials: Any) -> Self:
        """Firestore itself, called with `credentials`."""
        client = FirestoreClient(credentials=credentials, transport=_Transport)
        return cls(client.transport.grpc_channel)  # type: ignore[attr-defined]

    @classmethod
    def at_emulator(cls, address: str) -> Self:
        """The emulator at `host:port`, with an administrator's rights."""
        channel = grpc.insecure_channel(address, options=_OPTIONS)
        return cls(channel, [("authorization", "Bearer owner")])


class _Transport(FirestoreGrpcTransport):
    @classmethod
    def create_channel(cls, *where: Any, **how: Any) -> grpc.Channel:
        return super().create_channel(*where, **how | {"options": _OPTIONS})


class _Method:
    def __init__(
        self,
        kind: Callable[..., Any],
        headers: Sequence[tuple[str, str]],
        name: str,
        routed_by: str,
        answer: Any = None,
    ) -> None:
        """`routed_by` is the field of a request by which Google routes it (AIP-4222)."""
        request = getattr(types, f"{name}Request").pb()
        answer = answer or getattr(types, f"{name}Response").pb()
        path = f"/google.firestore.v1.Firestore/{name}"
        stub = kind(path, request.SerializeToString, answer.FromString)
        self._call = wrap_errors(stub)  # type: ignore[no-untyped-call]
        self._headers = headers
        self._routed_by = routed_by

    def __call__(self, request: Any, seconds: float, retry: Retry | None = None) -> Any:
        """The answer, or an iterator over a stream's answers, within `seconds`, retries included.

        Raises:
            GoogleAPICallError: the call failed.
            RetryError: it failed until the time was over.
        """
        call = TimeToDeadlineTimeout(seconds)(self._call)  # type: ignore[no-untyped-call]
        if retry:
            call = retry.with_timeout(seconds)(call)
        route = (self._routed_by, getattr(request, self._routed_by))
        routing = routing_header.to_grpc_metadata((route,))  # type: ignore[no-untyped-call]
        return call(request, metadata=(*self._headers, routing))


@once
def of_this_process() -> tuple[FirestoreApi, str]:
    """The process's own API, made on first use, and its project; there is one channel."""
    if emulator := os.environ.get("FIRESTORE_EMULATOR_HOST"):
        return FirestoreApi.at_emulator(emulator), project_id() or ""
    given, project = credentials()
    return FirestoreApi.at_google(given), project_id() or project
