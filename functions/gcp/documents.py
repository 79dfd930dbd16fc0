"""Firestore behind `functions.documents`: queries and commits through its API.

The codec is our own. The client library reads a document as a stream with a thread of its own and
wraps every value several times, which takes twice the CPU, and five times with group commit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from google.api_core import exceptions
from google.api_core.retry import Retry, StreamingRetry, if_exception_type
from google.cloud.firestore_v1 import types

from functions.documents.document import Document, Written
from functions.documents.documents import CALL_SECONDS, TRANSACTIONS, Documents
from functions.documents.query import Query
from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.documents.write import Write, may_repeat
from functions.gcp.firestore_api import FirestoreApi, of_this_process
from functions.gcp.queries import encode_query
from functions.gcp.values import document
from functions.gcp.writes import encode_write
from functions.once import once

_TRANSIENT: Final = (
    exceptions.ServiceUnavailable,
    exceptions.DeadlineExceeded,
    exceptions.InternalServerError,
    exceptions.ResourceExhausted,
)

_MAY_PASS: Final = if_exception_type(*_TRANSIENT, exceptions.Aborted)

RETRY: Final = Retry(_MAY_PASS, initial=0.1, maximum=2.0, timeout=CALL_SECONDS)
"""Only for calls that may be repeated: reads and conditional writes."""

_RETRY_STREAM: Final = StreamingRetry(_MAY_PASS, initial=0.1, maximum=2.0, timeout=CALL_SECONDS)

_IN_TRANSACTION: Final = RETRY.with_predicate(if_exception_type(*_TRANSIENT))
"""Without `Aborted`, after which the whole transaction has to be repeated."""

_REFUSALS: Final[Mapping[type[Exception], type[ChangedMeanwhileError]]] = {
    exceptions.AlreadyExists: AlreadyRecordedError,
    exceptions.FailedPrecondition: ChangedMeanwhileError,
    exceptions.NotFound: ChangedMeanwhileError,
}
"""The answers to a write whose condition does not hold."""

_GetDocument: Final = types.GetDocumentRequest.pb()
_BatchGetDocuments: Final = types.BatchGetDocumentsRequest.pb()
_RunQuery: Final = types.RunQueryRequest.pb()
_RunAggregationQuery: Final = types.RunAggregationQueryRequest.pb()
_BeginTransaction: Final = types.BeginTransactionRequest.pb()
_Commit: Final = types.CommitRequest.pb()
_BatchWrite: Final = types.BatchWriteRequest.pb()
_Rollback: Final = types.RollbackRequest.pb()


class FirestoreDocuments(Documents):
    """The documents of the default database of a project."""

    def __init__(self, api: FirestoreApi, project: str) -> None:
        """Use the default database of `project`."""
        self._api = api
        self._database = f"projects/{project}/databases/(default)"
        self._root = f"{self._database}/documents/"

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """See `Documents`."""
        request = _GetDocument(name=self._root + path)
        if fields:  # an empty mask would return no fields
            request.mask.field_paths.extend(fields)
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
        request = _BatchGetDocuments(database=self._database, documents=dict.fromkeys(names))
        if fields:
            request.mask.field_paths.extend(fields)
        answers = _whole(self._api.batch_get_documents, request, seconds)
        documents = [answer.found for answer in answers if answer.HasField("found")]
        found = {document.name: self._document(document) for document in documents}
        return [found.get(name) for name in names]

    def stream(self, query: Query) -> Iterator[Document]:
        """See `Documents`."""
        last: Document | None = None
        read = 0

        def rest() -> Iterator[Document]:
            nonlocal last, read
            left = query.behind(last.path, last.fields, read) if last else query
            if left.limit == 0:
                return
            request = _RunQuery(parent=self._parent(left))
            encode_query(left, self._root, request.structured_query)
            for answer in self._api.run_query(request, CALL_SECONDS):
                if answer.HasField("document"):
                    last, read = self._document(answer.document), read + 1
                    yield last

        return _RETRY_STREAM(rest)()

    def count(self, query: Query) -> int:
        """See `Documents`."""
        request = _RunAggregationQuery(parent=self._parent(query))
        asked = request.structured_aggregation_query
        encode_query(query, self._root, asked.structured_query)
        asked.aggregations.add(alias="count").count.SetInParent()
        [answer] = _whole(self._api.run_aggregation_query, request, CALL_SECONDS)
        return int(answer.result.aggregate_fields["count"].integer_value)

    def commit(self, *writes: Write, seconds: float = CALL_SECONDS) -> Sequence[Written]:
        """See `Documents`."""
        return self._commit(writes, RETRY if may_repeat(writes) else None, seconds)

    def transact(
        self, path: str, decide: Callable[[Document | None], Sequence[Write]]
    ) -> Sequence[Written]:
        """See `Documents`."""
        earlier = b""  # keeps the transaction's place among others
        for _ in range(TRANSACTIONS):
            begin = _BeginTransaction(
                database=self._database, options={"read_write": {"retry_transaction": earlier}}
            )
            begun = self._api.begin_transaction(begin, CALL_SECONDS, _IN_TRANSACTION)
            request = _GetDocument(name=self._root + path, transaction=begun.transaction)
            try:
                writes = decide(self._read(request, CALL_SECONDS, _IN_TRANSACTION))
                return self._commit(writes, _IN_TRANSACTION, CALL_SECONDS, begun.transaction)
            except exceptions.Aborted:
                earlier = begun.transaction
            except BaseException:
                self._roll_back(begun.transaction)
                raise
        raise ChangedMeanwhileError

    def write_each(
        self, writes: Sequence[Write], *, seconds: float = CALL_SECONDS
    ) -> Sequence[Written | Exception]:
        """See `Documents`."""
        request = _BatchWrite(database=self._database)
        places: dict[str, int] = {}
        for place, write in enumerate(writes):
            if places.setdefault(write.path, place) == place:
                encode_write(write, self._root + write.path, request.writes.add())
        answer = self._api.batch_write(request, seconds, RETRY)
        results: list[Written | Exception]
        results = [exceptions.Aborted("written twice")] * len(writes)  # type: ignore[no-untyped-call]
        for place, status, result in zip(
            places.values(), answer.status, answer.write_results, strict=True
        ):
            results[place] = _error(status) or _written(result)
        return results

    def _read(self, request: Any, seconds: float, retry: Retry = RETRY) -> Document | None:
        try:
            return self._document(self._api.get_document(request, seconds, retry))
        except exceptions.NotFound:
            return None

    def _commit(
        self, writes: Sequence[Write], retry: Retry | None, seconds: float, transaction: bytes = b""
    ) -> Sequence[Written]:
        request = _Commit(database=self._database, transaction=transaction)
        for write in writes:
            encode_write(write, self._root + write.path, request.writes.add())
        try:
            answer = self._api.commit(request, seconds, retry)
        except tuple(_REFUSALS) as refused:
            raise _REFUSALS[type(refused)] from refused
        return list(map(_written, answer.write_results))

    def _roll_back(self, transaction: bytes) -> None:
        """Free the documents of a transaction; they are free after some time without it too."""
        request = _Rollback(database=self._database, transaction=transaction)
        with suppress(exceptions.GoogleAPICallError, exceptions.RetryError):
            self._api.rollback(request, CALL_SECONDS, _IN_TRANSACTION)

    def _parent(self, query: Query) -> str:
        return (self._root + query.collection.rpartition("/")[0]).removesuffix("/")

    def _document(self, found: Any) -> Document:
        return document(found, found.name[len(self._root) :])


@once
def documents() -> Documents:
    """The process's own, made on first use: a deploy reads `main.py` without credentials."""
    return FirestoreDocuments(*of_this_process())


def _whole(method: Callable[..., Any], request: Any, seconds: float) -> Sequence[Any]:
    """All answers of a stream, which is read again from the start where it breaks."""
    answers: list[Any] = RETRY.with_timeout(seconds)(lambda: list(method(request, seconds)))()
    return answers


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
