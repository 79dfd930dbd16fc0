"""Adapter for Firestore: implements `Documents` with the generated gRPC client.

For the reason to avoid the hand-written layer of the client library, see design 5.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Final, Self, TypeAlias

import grpc
from google.api_core import exceptions
from google.api_core.retry import (
    StreamingRetry,
    exponential_sleep_generator,
    if_exception_type,
    retry_target,
)
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

from functions import cache, environment, local_suite
from functions.firestore.codec import document, encode_query, encode_write
from functions.firestore.group_commit import MIN_CALL_SECONDS, GroupCommit, Item, Result, Turn
from functions.firestore.model import (
    FIRESTORE_TIMEOUT_SECONDS,
    TRANSACTIONS,
    AlreadyRecordedError,
    ChangedMeanwhileError,
    Document,
    Documents,
    Query,
    Update,
    Write,
    Written,
    may_repeat,
)

_TRANSIENT: Final = (
    exceptions.ServiceUnavailable,
    exceptions.DeadlineExceeded,
    exceptions.InternalServerError,
    exceptions.ResourceExhausted,
)

_Retried: TypeAlias = Callable[[Exception], bool]

_IDEMPOTENT: Final = if_exception_type(*_TRANSIENT, exceptions.Aborted)
"""Errors that are retried for reads and conditional writes."""

_SUM: Final = if_exception_type(exceptions.ServiceUnavailable)
"""Errors that are retried for a commit that could add a number twice, as in the client library."""

_IN_TRANSACTION: Final = if_exception_type(*_TRANSIENT)
"""Errors that are retried in a transaction. After `Aborted`, the whole transaction is repeated."""

_BACKOFF: Final = (0.1, 2.0)
"""Initial and maximum seconds between retries."""

_RETRY_STREAM: Final = StreamingRetry(_IDEMPOTENT, *_BACKOFF, timeout=FIRESTORE_TIMEOUT_SECONDS)

_REFUSALS: Final[Mapping[type[Exception], type[ChangedMeanwhileError]]] = {
    exceptions.AlreadyExists: AlreadyRecordedError,
    exceptions.FailedPrecondition: ChangedMeanwhileError,
    exceptions.NotFound: ChangedMeanwhileError,
}
"""Errors of a write if its condition is not met."""


class FirestoreDocuments(Documents):
    """Adapter for the default database of a project."""

    def __init__(
        self, client: FirestoreClient, project: str, metadata: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Create an adapter that sends the headers `metadata` with every call."""
        self._client = client
        self._metadata = metadata
        self._project = project
        self._database = f"projects/{project}/databases/(default)"
        self._root = f"{self._database}/documents/"

    @classmethod
    def from_environment(cls) -> Self:
        """Create an adapter for the emulator if there is one, else for Firestore.

        The credentials are the function's own.
        """
        if emulator := local_suite.firestore_emulator():
            return cls.at_emulator(emulator, environment.project_id() or "")
        own_credentials, project = environment.credentials()
        return cls.at_google(own_credentials, environment.project_id() or project)

    @classmethod
    def at_google(cls, own_credentials: Any, project: str) -> Self:
        """Create an adapter for Firestore."""
        endpoint = FirestoreClient.DEFAULT_ENDPOINT
        channel = FirestoreGrpcTransport.create_channel(
            endpoint, credentials=own_credentials, options=environment.CHANNEL_OPTIONS
        )
        transport = FirestoreGrpcTransport(host=endpoint, channel=channel)
        return cls(FirestoreClient(transport=transport), project)

    @classmethod
    def at_emulator(cls, address: str, project: str) -> Self:
        """Create an adapter for the emulator at `host:port`, with admin privileges."""
        return cls.through(
            grpc.insecure_channel(address, options=environment.CHANNEL_OPTIONS), project
        )

    @classmethod
    def through(cls, channel: grpc.Channel, project: str) -> Self:
        """Create an adapter for the emulator that uses `channel`, with admin privileges."""
        client = FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))
        return cls(client, project, [("authorization", "Bearer owner")])

    def grouped(self) -> Documents:
        """Return a grouping adapter for the same connection (see `Documents`)."""
        return GroupedDocuments(self._client, self._project, self._metadata)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Document | None:
        """Implement `Documents.get`."""
        request = types.GetDocumentRequest(name=self._root + path)
        if fields:  # an empty mask would return no fields
            request.mask = types.DocumentMask(field_paths=fields)
        return self._read(request, seconds)

    def get_all(
        self,
        paths: Sequence[str],
        fields: Sequence[str] = (),
        *,
        seconds: float = FIRESTORE_TIMEOUT_SECONDS,
    ) -> Sequence[Document | None]:
        """Implement `Documents.get_all`."""
        if not paths:
            return []
        if len(paths) == 1:
            # Cheaper than a stream. Not `self.get`, which may call this method for a group.
            return [FirestoreDocuments.get(self, paths[0], fields, seconds=seconds)]
        names = [self._root + path for path in paths]
        request = types.BatchGetDocumentsRequest(
            database=self._database, documents=dict.fromkeys(names)
        )
        if fields:
            request.mask = types.DocumentMask(field_paths=fields)
        answers = self._call(self._client.batch_get_documents, request, seconds, read=_all)
        found = {
            answer.found.name: self._document(answer.found)
            for answer in answers
            if answer.HasField("found")
        }
        return [found.get(name) for name in names]

    def stream(self, query: Query) -> Iterator[Document]:
        """Implement `Documents.stream`."""
        last: Document | None = None
        read = 0
        ends = monotonic() + FIRESTORE_TIMEOUT_SECONDS

        def rest() -> Iterator[Document]:
            nonlocal last, read
            left = query.behind(last.path, last.fields, read) if last else query
            if left.limit == 0:
                return
            request = types.RunQueryRequest(parent=self._parent(left))
            encode_query(left, self._root, types.RunQueryRequest.pb(request).structured_query)
            answers = self._client.run_query(
                request, retry=None, timeout=ends - monotonic(), metadata=self._metadata
            )
            for found in answers:
                answer = types.RunQueryResponse.pb(found)
                if answer.HasField("document"):
                    last, read = self._document(answer.document), read + 1
                    yield last

        return _RETRY_STREAM(rest)()

    def count(self, query: Query) -> int:
        """Implement `Documents.count`."""
        request = types.RunAggregationQueryRequest(parent=self._parent(query))
        aggregation = types.RunAggregationQueryRequest.pb(request).structured_aggregation_query
        encode_query(query, self._root, aggregation.structured_query)
        aggregation.aggregations.add(alias="count").count.SetInParent()
        [answer] = self._call(
            self._client.run_aggregation_query, request, FIRESTORE_TIMEOUT_SECONDS, read=_all
        )
        return int(answer.result.aggregate_fields["count"].integer_value)

    def commit(
        self, *writes: Write, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Sequence[Written]:
        """Implement `Documents.commit`."""
        return self._commit(writes, _IDEMPOTENT if may_repeat(writes) else _SUM, seconds)

    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """Implement `Documents.transact`."""
        earlier = b""  # a repeated transaction keeps the priority of its first try
        for _ in range(TRANSACTIONS):
            options = types.TransactionOptions.ReadWrite(retry_transaction=earlier)
            begin = types.BeginTransactionRequest(
                database=self._database, options=types.TransactionOptions(read_write=options)
            )
            begun = self._call(
                self._client.begin_transaction, begin, FIRESTORE_TIMEOUT_SECONDS, _IN_TRANSACTION
            ).transaction
            request = types.GetDocumentRequest(name=self._root + path, transaction=begun)
            try:
                writes = decide(self._read(request, FIRESTORE_TIMEOUT_SECONDS, _IN_TRANSACTION))
                return self._commit(writes, _IN_TRANSACTION, FIRESTORE_TIMEOUT_SECONDS, begun)
            except exceptions.Aborted:
                earlier = begun
            except BaseException:
                self._roll_back(begun)
                raise
        raise ChangedMeanwhileError

    def write_each(
        self, writes: Sequence[Write], *, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Sequence[Written | Exception]:
        """Implement `Documents.write_each`."""
        request = types.BatchWriteRequest(database=self._database)
        encoded = types.BatchWriteRequest.pb(request).writes
        places: dict[str, int] = {}
        for place, write in enumerate(writes):
            if places.setdefault(write.path, place) == place:
                encode_write(write, self._root + write.path, encoded.add())
        found = self._call(self._client.batch_write, request, seconds)
        answer = types.BatchWriteResponse.pb(found)
        results: list[Written | Exception]
        results = [exceptions.Aborted("written twice")] * len(writes)  # type: ignore[no-untyped-call]
        for place, status, result in zip(
            places.values(), answer.status, answer.write_results, strict=True
        ):
            results[place] = _error(status) or _written(result)
        return results

    def _read(
        self, request: Any, seconds: float, retried: _Retried = _IDEMPOTENT
    ) -> Document | None:
        try:
            found = self._call(self._client.get_document, request, seconds, retried)
        except exceptions.NotFound:
            return None
        return self._document(types.Document.pb(found))

    def _commit(
        self, writes: Sequence[Write], retried: _Retried, seconds: float, transaction: bytes = b""
    ) -> Sequence[Written]:
        request = types.CommitRequest(database=self._database, transaction=transaction)
        encoded = types.CommitRequest.pb(request).writes
        for write in writes:
            encode_write(write, self._root + write.path, encoded.add())
        try:
            answer = self._call(self._client.commit, request, seconds, retried)
        except tuple(_REFUSALS) as refused:
            raise _REFUSALS[type(refused)] from refused
        return list(map(_written, types.CommitResponse.pb(answer).write_results))

    def _roll_back(self, transaction: bytes) -> None:
        """Roll back the transaction to release its locks early. They also expire on their own."""
        request = types.RollbackRequest(database=self._database, transaction=transaction)
        with suppress(exceptions.GoogleAPICallError, exceptions.RetryError):
            self._call(self._client.rollback, request, FIRESTORE_TIMEOUT_SECONDS, _IN_TRANSACTION)

    def _call(
        self,
        method: Callable[..., Any],
        request: Any,
        seconds: float,
        retried: _Retried = _IDEMPOTENT,
        read: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Call `method`, with retries within `seconds`, and return its response.

        If `read` is given, return its result instead. The timeout limits all attempts together. The
        client library would permit the last attempt, and each attempt of a stream, the whole
        timeout.

        Raises:
            GoogleAPICallError: The call failed.
            RetryError: All retries failed until the timeout.
        """
        ends = monotonic() + seconds

        def attempt() -> Any:
            answer = method(
                request, retry=None, timeout=ends - monotonic(), metadata=self._metadata
            )
            return read(answer) if read else answer

        # A `Retry` would wrap the function of each call, which costs CPU.
        return retry_target(attempt, retried, exponential_sleep_generator(*_BACKOFF), seconds)

    def _parent(self, query: Query) -> str:
        return (self._root + query.collection.rpartition("/")[0]).removesuffix("/")

    def _document(self, found: Any) -> Document:
        return document(found, found.name[len(self._root) :])


@cache.once
def documents() -> Documents:
    """Return the adapter of the process.

    Created lazily, because a deploy reads `main.py` without credentials.
    """
    return FirestoreDocuments.from_environment()


def _all(answers: Any) -> Sequence[Any]:
    """Return the messages of a stream. An interrupted stream is read again from the start."""
    return [type(answer).pb(answer) for answer in answers]


def _written(result: Any) -> Written:
    sums = [value.integer_value for value in result.transform_results]
    return Written(result.update_time.ToNanoseconds(), sums)


def _error(status: Any) -> Exception | None:
    """Return the exception that a commit with this `google.rpc.Status` would raise."""
    if status.code == 0:
        return None
    error: Exception = exceptions.from_grpc_status(status.code, status.message)  # type: ignore[no-untyped-call]
    refusal = _REFUSALS.get(type(error))
    return refusal() if refusal else error


_GROUP: Final = 100


class GroupedDocuments(FirestoreDocuments):
    """Adapter that combines the calls of many threads.

    Reads of a document and updates with a version are combined. If a combined call fails, it is
    repeated as a separate call in the remaining time. Thus a write that Firestore rejects does not
    fail others. All other calls are inherited.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        """Create an adapter with the parameters of `FirestoreDocuments`."""
        super().__init__(*args, **options)
        limits, turn = (_GROUP, FIRESTORE_TIMEOUT_SECONDS), Turn()
        self._reads = GroupCommit[str, Document | None](
            lambda paths, seconds: self.get_all(paths, seconds=seconds), *limits, turn
        )
        self._updates = GroupCommit[Update, Written](
            lambda updates, seconds: self.write_each(updates, seconds=seconds), *limits, turn
        )

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Document | None:
        """Implement `Documents.get`."""
        alone = partial(super().get, path, fields)
        if fields or seconds != FIRESTORE_TIMEOUT_SECONDS:
            return alone(seconds=seconds)
        return _grouped(self._reads, path, alone)

    def commit(
        self, *writes: Write, seconds: float = FIRESTORE_TIMEOUT_SECONDS
    ) -> Sequence[Written]:
        """Implement `Documents.commit`."""
        alone = partial(super().commit, *writes)
        match writes:
            case [Update(version=int()) as update] if seconds == FIRESTORE_TIMEOUT_SECONDS:
                return _grouped(lambda one: [self._updates(one)], update, alone)
        return alone(seconds=seconds)


def _grouped(group: Callable[[Item], Result], item: Item, alone: Callable[..., Result]) -> Result:
    ends = monotonic() + FIRESTORE_TIMEOUT_SECONDS
    try:
        return group(item)
    except ChangedMeanwhileError:
        raise
    except Exception:  # of this item, or of another item in its group
        left = ends - monotonic()
        if left < MIN_CALL_SECONDS:
            raise
    return alone(seconds=left)
