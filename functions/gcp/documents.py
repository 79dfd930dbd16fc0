"""Documents of Firestore through its API client, with a codec of our own.

For the frequent reads and writes. The client library reads a document as a stream with a thread of
its own and wraps every value several times, which takes twice the CPU, and five times with group
commit. Rare queries use the library.

https://cloud.google.com/python/docs/reference/firestore/latest/google.cloud.firestore_v1.services.firestore.FirestoreClient
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self, TypeAlias

import grpc
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.protobuf.wrappers_pb2 import Int32Value

from functions.app_names import DATA_MODEL, AppNames
from functions.gcp.firestore import CALL_SECONDS, RETRY, credentials, project_id
from functions.gcp.values import decoded, encode
from functions.parameters import app_names

Version: TypeAlias = Any
"""The time of a document's last write in nanoseconds, a protobuf `Timestamp`."""

_PAGE: Final = 3000
"""Documents of a query: some megabytes, read again from the start where the stream breaks."""

_NO_LIMIT: Final = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, with its version and the time of its creation."""

    fields: Mapping[str, Any]
    version: Version
    created: datetime

    @property
    def written(self) -> datetime:
        """The time of the last write, in microseconds."""
        written: datetime = self.version.ToDatetime(UTC)
        return written


@dataclass(frozen=True, slots=True)
class Create:
    """Create a document that must not exist."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Update:
    """Write some fields of a document that must still have `version`, and delete others."""

    path: str
    fields: Mapping[str, Any]
    version: Version
    delete: Sequence[str] = ()


class Documents:
    """Documents by path, such as `users/u1`; one instance serves all threads.

    Each method is one call, with retries for at most `seconds` where a repetition is safe.

    Attributes:
        names: Where the app keeps its events and photos in this database.
    """

    def __init__(
        self,
        api: FirestoreClient,
        project: str,
        *,
        metadata: Sequence[tuple[str, str]] = (),
        names: AppNames = DATA_MODEL,
    ) -> None:
        """Use the default database of `project`; every call sends `metadata`."""
        self._api = api
        self._database = f"projects/{project}/databases/(default)"
        self._metadata = tuple(metadata)
        self.names = names

    @classmethod
    def at_emulator(cls, channel: grpc.Channel, project: str, names: AppNames = DATA_MODEL) -> Self:
        """The emulator behind `channel`, with an administrator's rights."""
        transport = FirestoreGrpcTransport(channel=channel, credentials=AnonymousCredentials())  # type: ignore[no-untyped-call]
        owner = [("authorization", "Bearer owner")]
        return cls(FirestoreClient(transport=transport), project, metadata=owner, names=names)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """The document, or only `fields` of it; None where it does not exist.

        Raises:
            GoogleAPICallError: the document could not be read.
        """
        request = types.GetDocumentRequest(name=self._name(path))
        if fields:  # an empty mask would return no fields
            request.mask.field_paths.extend(fields)
        try:
            found = self._call(self._api.get_document, request, seconds)
        except exceptions.NotFound:
            return None
        return _document(types.Document.pb(found))

    def get_all(
        self, paths: Sequence[str], seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """The documents in the order of `paths`, None for each that does not exist.

        Raises:
            GoogleAPICallError: the documents could not be read.
        """
        if not paths:
            return []
        if len(paths) == 1:
            return [self.get(paths[0], seconds=seconds)]  # cheaper than a stream
        names = [self._name(path) for path in paths]
        request = types.BatchGetDocumentsRequest(
            database=self._database, documents=list(dict.fromkeys(names))
        )
        answers = self._stream(self._api.batch_get_documents, request, seconds)
        documents = [answer.found for answer in answers if answer.HasField("found")]
        found = {document.name: _document(document) for document in documents}
        return [found.get(name) for name in names]

    def find(
        self, path: str, field: str, value: str, select: Sequence[str], *, page: int = _PAGE
    ) -> Iterator[tuple[str, Document]]:
        """All documents of a collection whose `field` is `value`, by id, with `select`ed fields.

        Raises:
            GoogleAPICallError: a page could not be read.
        """
        parent, query = self._query(path, (field, value))
        query.select = types.StructuredQuery.Projection(
            fields=[types.StructuredQuery.FieldReference(field_path=name) for name in select]
        )
        query.order_by = [_ascending("__name__")]
        query.limit = _limit(page)
        while True:
            found = self._found(parent, query)
            for document in found:
                yield _id(document), _document(document)
            if len(found) < page:
                return
            last = types.Value(reference_value=found[-1].name)
            query.start_at = types.Cursor(values=[last], before=False)

    def first(self, path: str, field: str, value: str, *, by: str) -> tuple[str, Document] | None:
        """The document with the least `by` whose `field` is `value`, with its id.

        None where no document of the collection at `path` matches.

        Raises:
            GoogleAPICallError: the query failed.
        """
        parent, query = self._query(path, (field, value))
        query.order_by = [_ascending(by)]
        query.limit = _limit(1)
        found = self._found(parent, query)
        return (_id(found[0]), _document(found[0])) if found else None

    def count(
        self,
        path: str,
        at_most: int | None = None,
        *,
        not_after: tuple[str, datetime] | None = None,
    ) -> int:
        """Number of documents in the collection at `path`, at most `at_most`.

        `not_after` names a field and a time: only documents with a time up to it are counted.

        Raises:
            GoogleAPICallError: the query failed.
        """
        parent, query = self._query(path)
        if not_after:
            query.where = _filter(not_after[0], "LESS_THAN_OR_EQUAL", not_after[1])
        if at_most:
            query.limit = _limit(at_most)
        aggregation = types.StructuredAggregationQuery.Aggregation
        request = types.RunAggregationQueryRequest(
            parent=parent,
            structured_aggregation_query=types.StructuredAggregationQuery(
                structured_query=query,
                aggregations=[aggregation(alias="count", count=aggregation.Count())],
            ),
        )
        [answer] = self._stream(self._api.run_aggregation_query, request, CALL_SECONDS)
        return int(answer.result.aggregate_fields["count"].integer_value)

    def create(self, new: Iterable[Create], *, seconds: float = CALL_SECONDS) -> None:
        """Create all documents, or none.

        Raises:
            AlreadyExists: a document exists.
            GoogleAPICallError: any other error; the documents may have been created all the same.
        """
        request = types.CommitRequest(database=self._database)
        writes = types.CommitRequest.pb(request).writes
        for document in new:
            write = writes.add()
            write.update.name = self._name(document.path)
            encode(document.fields, write.update.fields)
            write.current_document.exists = False
        self._call(self._api.commit, request, seconds)

    def write(
        self,
        path: str,
        fields: Mapping[str, Any],
        *,
        mask: Sequence[str] | None = None,
        seconds: float = CALL_SECONDS,
    ) -> None:
        """Replace the document, or only the field paths in `mask`; creates a missing document.

        Raises:
            GoogleAPICallError: the document may have been written all the same.
        """
        request = types.CommitRequest(database=self._database)
        write = types.CommitRequest.pb(request).writes.add()
        write.update.name = self._name(path)
        encode(fields, write.update.fields)
        if mask is not None:
            write.update_mask.field_paths.extend(mask)
        self._call(self._api.commit, request, seconds)

    def increment(self, path: str, field: str, fields: Mapping[str, Any], *, seconds: float) -> int:
        """Add 1 to `field` and write `fields`; returns the sum. There is no retry.

        Raises:
            GoogleAPICallError: the document may have been written all the same.
        """
        request = types.CommitRequest(database=self._database)
        write = types.CommitRequest.pb(request).writes.add()
        write.update.name = self._name(path)
        encode(fields, write.update.fields)
        write.update_mask.field_paths.extend(fields)
        transform = write.update_transforms.add()
        transform.field_path = field
        transform.increment.integer_value = 1
        answer = self._api.commit(request, retry=None, timeout=seconds, metadata=self._metadata)
        return int(answer.write_results[0].transform_results[0].integer_value)

    def update(self, update: Update) -> None:
        """Make one update.

        Raises:
            FailedPrecondition, NotFound: the document has another version, or is gone.
            GoogleAPICallError: the update may have been made all the same.
        """
        [error] = self.update_all([update])
        if error:
            raise error

    def update_all(
        self, updates: Sequence[Update], seconds: float = CALL_SECONDS
    ) -> Sequence[exceptions.GoogleAPICallError | None]:
        """Make each update by itself; returns the error of each, None for success.

        `FailedPrecondition` and `NotFound` mean that the document has another version, or is gone;
        `Aborted` means that `updates` has the document twice.

        Raises:
            GoogleAPICallError: the call failed; some updates may have been made all the same.
        """
        request = types.BatchWriteRequest(database=self._database)
        writes = types.BatchWriteRequest.pb(request).writes
        places: dict[str, int] = {}
        for place, update in enumerate(updates):
            name = self._name(update.path)
            if places.setdefault(name, place) != place:
                continue
            write = writes.add()
            write.update.name = name
            encode(update.fields, write.update.fields)
            write.update_mask.field_paths.extend((*update.fields, *update.delete))
            write.current_document.update_time.CopyFrom(update.version)
        answer = types.BatchWriteResponse.pb(self._call(self._api.batch_write, request, seconds))
        errors: list[exceptions.GoogleAPICallError | None]
        errors = [exceptions.Aborted("updated twice")] * len(updates)  # type: ignore[no-untyped-call]
        for place, status in zip(places.values(), answer.status, strict=True):
            errors[place] = _error(status)
        return errors

    def _name(self, path: str) -> str:
        return f"{self._database}/documents/{path}"

    def _query(
        self, path: str, where: tuple[str, str] | None = None
    ) -> tuple[str, types.StructuredQuery]:
        """The parent of the collection at `path`, and a query; `where` is a field and its value."""
        parent, _, collection = path.rpartition("/")
        query = types.StructuredQuery()
        query.from_ = [types.StructuredQuery.CollectionSelector(collection_id=collection)]
        if where:
            query.where = _filter(where[0], "EQUAL", where[1])
        return self._name(parent), query

    def _found(self, parent: str, query: types.StructuredQuery) -> Sequence[Any]:
        request = types.RunQueryRequest(parent=parent, structured_query=query)
        answers = self._stream(self._api.run_query, request, CALL_SECONDS)
        return [answer.document for answer in answers if answer.HasField("document")]

    def _stream(self, method: Callable[..., Any], request: Any, seconds: float) -> Sequence[Any]:
        """All answers of a stream, which is read again from the start where it breaks."""

        def whole() -> list[Any]:
            answers = method(request, retry=None, timeout=seconds, metadata=self._metadata)
            return [type(answer).pb(answer) for answer in answers]

        answers: list[Any] = RETRY.with_timeout(seconds)(whole)()
        return answers

    def _call(self, method: Callable[..., Any], request: Any, seconds: float) -> Any:
        retry = RETRY.with_timeout(seconds)
        return method(request, retry=retry, timeout=seconds, metadata=self._metadata)


@functools.cache
def documents() -> Documents:
    """The process's own, made on first use: a deploy reads `main.py` without credentials."""
    emulator = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if emulator:
        channel = grpc.insecure_channel(emulator, options=_NO_LIMIT)
        return Documents.at_emulator(channel, project_id() or "", app_names())
    given, project = credentials()
    api = FirestoreClient(credentials=given)
    return Documents(api, project_id() or project, names=app_names())


def _document(found: Any) -> Document:
    created = found.create_time.ToDatetime(UTC)
    return Document(decoded(found.fields), found.update_time, created)


def _id(found: Any) -> str:
    name: str = found.name
    return name.rpartition("/")[2]


def _limit(count: int) -> Int32Value:
    return Int32Value(value=count)


def _ascending(field: str) -> types.StructuredQuery.Order:
    return types.StructuredQuery.Order(
        field=types.StructuredQuery.FieldReference(field_path=field),
        direction=types.StructuredQuery.Direction.ASCENDING,
    )


def _filter(field: str, operator: str, value: str | datetime) -> types.StructuredQuery.Filter:
    written = (
        types.Value(string_value=value)
        if isinstance(value, str)
        else types.Value(timestamp_value=value)
    )
    return types.StructuredQuery.Filter(
        field_filter=types.StructuredQuery.FieldFilter(
            field=types.StructuredQuery.FieldReference(field_path=field),
            op=getattr(types.StructuredQuery.FieldFilter.Operator, operator),
            value=written,
        )
    )


def _error(status: Any) -> exceptions.GoogleAPICallError | None:
    """The exception that a single call with this `google.rpc.Status` would raise."""
    if status.code == 0:
        return None
    error: exceptions.GoogleAPICallError = exceptions.from_grpc_status(status.code, status.message)  # type: ignore[no-untyped-call]
    return error
