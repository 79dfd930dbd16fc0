"""Firestore behind `Documents`: queries and commits through its generated client.

Design 5 says why the client library's hand-written layer stays out.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Final, Self

import grpc
from google.api_core import exceptions
from google.api_core.retry import Retry, StreamingRetry, if_exception_type
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

from functions.cache import once
from functions.firestore.codec import document, encode_query, encode_write
from functions.firestore.group_commit import GroupCommit, Item, Result, Turn
from functions.firestore.model import (
    CALL_SECONDS,
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
from functions.parameters import CHANNEL_OPTIONS, credentials, project_id

_TRANSIENT: Final = (
    exceptions.ServiceUnavailable,
    exceptions.DeadlineExceeded,
    exceptions.InternalServerError,
    exceptions.ResourceExhausted,
)

_MAY_PASS: Final = if_exception_type(*_TRANSIENT, exceptions.Aborted)

_RETRY: Final = Retry(_MAY_PASS, initial=0.1, maximum=2.0)
"""Only for calls that may be repeated: reads and conditional writes."""

_RETRY_SUM: Final = _RETRY.with_predicate(if_exception_type(exceptions.ServiceUnavailable))
"""For a commit that could add a number twice: as the client library repeats every commit."""

_RETRY_STREAM: Final = StreamingRetry(_MAY_PASS, initial=0.1, maximum=2.0, timeout=CALL_SECONDS)

_IN_TRANSACTION: Final = _RETRY.with_predicate(if_exception_type(*_TRANSIENT))
"""Without `Aborted`, after which the whole transaction has to be repeated."""

_REFUSALS: Final[Mapping[type[Exception], type[ChangedMeanwhileError]]] = {
    exceptions.AlreadyExists: AlreadyRecordedError,
    exceptions.FailedPrecondition: ChangedMeanwhileError,
    exceptions.NotFound: ChangedMeanwhileError,
}
"""The answers to a write whose condition does not hold."""


class FirestoreDocuments(Documents):
    """The documents of the default database of a project."""

    def __init__(
        self, client: FirestoreClient, project: str, metadata: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Use the default database of `project`; every call sends the headers `metadata`."""
        self._client = client
        self._metadata = metadata
        self._project = project
        self._database = f"projects/{project}/databases/(default)"
        self._root = f"{self._database}/documents/"

    @classmethod
    def of_environment(cls) -> Self:
        """Firestore with the credentials of this function, or the emulator where there is one."""
        if emulator := os.environ.get("FIRESTORE_EMULATOR_HOST"):
            return cls.at_emulator(emulator, project_id() or "")
        given, project = credentials()
        return cls.at_google(given, project_id() or project)

    @classmethod
    def at_google(cls, given: Any, project: str) -> Self:
        """Firestore itself, called with the credentials `given`."""
        endpoint = FirestoreClient.DEFAULT_ENDPOINT
        channel = FirestoreGrpcTransport.create_channel(
            endpoint, credentials=given, options=CHANNEL_OPTIONS
        )
        transport = FirestoreGrpcTransport(host=endpoint, channel=channel)
        return cls(FirestoreClient(transport=transport), project)

    @classmethod
    def at_emulator(cls, address: str, project: str) -> Self:
        """The emulator at `host:port`, with an administrator's rights."""
        return cls.through(grpc.insecure_channel(address, options=CHANNEL_OPTIONS), project)

    @classmethod
    def through(cls, channel: grpc.Channel, project: str) -> Self:
        """The emulator at the other end of `channel`, with an administrator's rights."""
        client = FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))
        return cls(client, project, [("authorization", "Bearer owner")])

    def grouped(self) -> Documents:
        """See `Documents`; over the same connection."""
        return GroupedDocuments(self._client, self._project, self._metadata)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """See `Documents`."""
        request = types.GetDocumentRequest(name=self._root + path)
        if fields:  # an empty mask would return no fields
            request.mask = types.DocumentMask(field_paths=fields)
        return self._read(request, seconds)

    def get_all(
        self, paths: Sequence[str], fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """See `Documents`."""
        if not paths:
            return []
        if len(paths) == 1:
            # Cheaper than a stream; not `self.get`, which may gather reads for this very method.
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
        """See `Documents`."""
        last: Document | None = None
        read = 0
        ends = monotonic() + CALL_SECONDS

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
        """See `Documents`."""
        request = types.RunAggregationQueryRequest(parent=self._parent(query))
        asked = types.RunAggregationQueryRequest.pb(request).structured_aggregation_query
        encode_query(query, self._root, asked.structured_query)
        asked.aggregations.add(alias="count").count.SetInParent()
        [answer] = self._call(self._client.run_aggregation_query, request, CALL_SECONDS, read=_all)
        return int(answer.result.aggregate_fields["count"].integer_value)

    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """See `Documents`."""
        return self._commit(writes, _RETRY if may_repeat(writes) else _RETRY_SUM, seconds)

    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """See `Documents`."""
        earlier = b""  # a repeated transaction keeps the priority of its first try
        for _ in range(TRANSACTIONS):
            options = types.TransactionOptions.ReadWrite(retry_transaction=earlier)
            begin = types.BeginTransactionRequest(
                database=self._database, options=types.TransactionOptions(read_write=options)
            )
            begun = self._call(
                self._client.begin_transaction, begin, CALL_SECONDS, _IN_TRANSACTION
            ).transaction
            request = types.GetDocumentRequest(name=self._root + path, transaction=begun)
            try:
                writes = decide(self._read(request, CALL_SECONDS, _IN_TRANSACTION))
                return self._commit(writes, _IN_TRANSACTION, CALL_SECONDS, begun)
            except exceptions.Aborted:
                earlier = begun
            except BaseException:
                self._roll_back(begun)
                raise
        raise ChangedMeanwhileError

    def write_each(
        self, writes: Sequence[Write], *, seconds: float = CALL_SECONDS
    ) -> Sequence[Written | Exception]:
        """See `Documents`."""
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

    def _read(self, request: Any, seconds: float, retry: Retry = _RETRY) -> Document | None:
        try:
            found = self._call(self._client.get_document, request, seconds, retry)
        except exceptions.NotFound:
            return None
        return self._document(types.Document.pb(found))

    def _commit(
        self, writes: Sequence[Write], retry: Retry, seconds: float, transaction: bytes = b""
    ) -> Sequence[Written]:
        request = types.CommitRequest(database=self._database, transaction=transaction)
        encoded = types.CommitRequest.pb(request).writes
        for write in writes:
            encode_write(write, self._root + write.path, encoded.add())
        try:
            answer = self._call(self._client.commit, request, seconds, retry)
        except tuple(_REFUSALS) as refused:
            raise _REFUSALS[type(refused)] from refused
        return list(map(_written, types.CommitResponse.pb(answer).write_results))

    def _roll_back(self, transaction: bytes) -> None:
        """Free the documents of a transaction; they are free after some time without it too."""
        request = types.RollbackRequest(database=self._database, transaction=transaction)
        with suppress(exceptions.GoogleAPICallError, exceptions.RetryError):
            self._call(self._client.rollback, request, CALL_SECONDS, _IN_TRANSACTION)

    def _call(
        self,
        method: Callable[..., Any],
        request: Any,
        seconds: float,
        retry: Retry = _RETRY,
        read: Callable[[Any], Any] | None = None,
    ) -> Any:
        """The answer of `method`, or what `read` makes of it, within `seconds` with repetitions.

        The client library gives the last repetition, and each one of a stream, the whole limit.

        Raises:
            GoogleAPICallError: the call failed.
            RetryError: the call failed until the time was over.
        """
        ends = monotonic() + seconds

        def attempt() -> Any:
            answer = method(
                request, retry=None, timeout=ends - monotonic(), metadata=self._metadata
            )
            return read(answer) if read else answer

        return retry.with_timeout(seconds)(attempt)()

    def _parent(self, query: Query) -> str:
        return (self._root + query.collection.rpartition("/")[0]).removesuffix("/")

    def _document(self, found: Any) -> Document:
        return document(found, found.name[len(self._root) :])


@once
def documents() -> Documents:
    """The process's own, made on first use: a deploy reads `main.py` without credentials."""
    return FirestoreDocuments.of_environment()


def _all(answers: Any) -> Sequence[Any]:
    """The messages of a stream, which is read again from the start where it breaks."""
    return [type(answer).pb(answer) for answer in answers]


def _written(result: Any) -> Written:
    sums = [value.integer_value for value in result.transform_results]
    return Written(result.update_time.ToNanoseconds(), sums)


def _error(status: Any) -> Exception | None:
    """The exception that a commit with this `google.rpc.Status` would raise."""
    if status.code == 0:
        return None
    error: Exception = exceptions.from_grpc_status(status.code, status.message)  # type: ignore[no-untyped-call]
    refusal = _REFUSALS.get(type(error))
    return refusal() if refusal else error


_GROUP: Final = 100

_MIN_CALL_SECONDS: Final = 1.0


class GroupedDocuments(FirestoreDocuments):
    """Reads a document, and updates a document in its version, together with other threads.

    A call that fails in a group is made alone, in the time that is left: one write that Firestore
    refuses fails no other. All other calls are those of `FirestoreDocuments`.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        """See `FirestoreDocuments`."""
        super().__init__(*given, **named)
        limits, turn = (_GROUP, CALL_SECONDS), Turn()
        self._reads = GroupCommit[str, Document | None](
            lambda paths, seconds: self.get_all(paths, seconds=seconds), *limits, turn
        )
        self._updates = GroupCommit[Update, Written](
            lambda updates, seconds: self.write_each(updates, seconds=seconds), *limits, turn
        )

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """See `Documents`."""
        alone = partial(super().get, path, fields)
        if fields or seconds != CALL_SECONDS:
            return alone(seconds=seconds)
        return _grouped(self._reads, path, alone)

    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """See `Documents`."""
        alone = partial(super().commit, *writes)
        match writes:
            case [Update(version=int()) as update] if seconds == CALL_SECONDS:
                return _grouped(lambda one: [self._updates(one)], update, alone)
        return alone(seconds=seconds)


def _grouped(group: Callable[[Item], Result], item: Item, alone: Callable[..., Result]) -> Result:
    ends = monotonic() + CALL_SECONDS
    try:
        return group(item)
    except ChangedMeanwhileError:
        raise
    except Exception:  # of this item, or of another one in its group
        left = ends - monotonic()
        if left < _MIN_CALL_SECONDS:
            raise
    return alone(seconds=left)
