"""Single documents of Firestore by its public API client, with a codec of our own.

For what is read and written with every delivery, upload and look-up. The client library above it
reads a document as a stream, with a thread of its own, and wraps every value of it several times:
twice the CPU, and five times with group commit. Rare queries go through the library.

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

from functions.gcp.firestore import CALL_SECONDS, RETRY, credentials, project_id
from functions.gcp.values import decoded, encode

Version: TypeAlias = Any
"""When a document was last written, to the nanosecond: a protobuf `Timestamp`."""

_PAGE: Final = 3000  # some megabytes; read again as a whole where its stream breaks

_NO_LIMIT: Final = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, its version then, and when it was made."""

    fields: Mapping[str, Any]
    version: Version
    created: datetime

    @property
    def written(self) -> datetime:
        """When it was last written, to the microsecond."""
        written: datetime = self.version.ToDatetime(UTC)
        return written


@dataclass(frozen=True, slots=True)
class Create:
    """Write a document that must not be there yet."""

    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Update:
    """Write some fields of a document that must still be in `version`, and delete others."""

    path: str
    fields: Mapping[str, Any]
    version: Version
    delete: Sequence[str] = ()


class Documents:
    """Documents by path, such as `users/u1`; one instance serves all threads.

    Each method is one call, made again where that helps, for no longer than `seconds`.
    """

    def __init__(
        self,
        api: FirestoreClient,
        project: str,
        *,
        metadata: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Read and write the default database of `project`; `metadata` goes with every call."""
        self._api = api
        self._database = f"projects/{project}/databases/(default)"
        self._metadata = tuple(metadata)

    @classmethod
    def at_emulator(cls, channel: grpc.Channel, project: str) -> Self:
        """Those of the emulator that `channel` leads to, as an administrator."""
        transport = FirestoreGrpcTransport(channel=channel, credentials=AnonymousCredentials())  # type: ignore[no-untyped-call]
        owner = [("authorization", "Bearer owner")]
        return cls(FirestoreClient(transport=transport), project, metadata=owner)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """The document, or only `fields` of it; None where there is none.

        Raises:
            GoogleAPICallError: it could not be read.
        """
        request = types.GetDocumentRequest(name=self._name(path))
        if fields:  # a mask without any would stand for none
            request.mask.field_paths.extend(fields)
        try:
            found = self._call(self._api.get_document, request, seconds)
        except exceptions.NotFound:
            return None
        return _document(types.Document.pb(found))

    def get_all(
        self, paths: Sequence[str], seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """The documents, None in the place of each that there is not.

        Raises:
            GoogleAPICallError: they could not be read.
        """
        if not paths:
            return []
        if len(paths) == 1:
            return [self.get(paths[0], seconds=seconds)]  # costs less than a stream
        names = [self._name(path) for path in paths]
        request = types.BatchGetDocumentsRequest(
            database=self._database, documents=list(dict.fromkeys(names))
        )
        answers = self._stream(self._api.batch_get_documents, request, seconds)
        found = {one.found.name: _document(one.found) for one in answers if one.HasField("found")}
        return [found.get(name) for name in names]

    def find(
        self, path: str, field: str, value: str, select: Sequence[str], *, page: int = _PAGE
    ) -> Iterator[tuple[str, Document]]:
        """Every document of the collection at `path` whose `field` is `value`, by id: `select`ed.

        Raises:
            GoogleAPICallError: a page of them could not be read.
        """
        parent, query = self._query(path, (field, value))
        query.select = types.StructuredQuery.Projection(
            fields=[types.StructuredQuery.FieldReference(field_path=one) for one in select]
        )
        query.order_by = [_ascending("__name__")]
        query.limit = _limit(page)
        while True:
            found = self._found(parent, query)
            for one in found:
                yield _id(one), _document(one)
            if len(found) < page:
                return
            last = types.Value(reference_value=found[-1].name)
            query.start_at = types.Cursor(values=[last], before=False)

    def first(self, path: str, field: str, value: str, *, by: str) -> tuple[str, Document] | None:
        """The document of the collection at `path` with the least `by` whose `field` is so.

        With its id; None where there is none.

        Raises:
            GoogleAPICallError: it could not be looked for.
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
        """How many documents the collection at `path` has; counts to `at_most`.

        Only those with a time in a field, no later than another, where `not_after` names both.

        Raises:
            GoogleAPICallError: they could not be counted.
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
        """Make all of the documents, or none.

        Raises:
            AlreadyExists: one of them is there.
            GoogleAPICallError: anything else; they may have been made all the same.
        """
        request = types.CommitRequest(database=self._database)
        writes = types.CommitRequest.pb(request).writes
        for one in new:
            write = writes.add()
            write.update.name = self._name(one.path)
            encode(one.fields, write.update.fields)
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
        """Replace the document, or only the field paths in `mask`; it is made where there is none.

        Raises:
            GoogleAPICallError: it may have been written all the same.
        """
        request = types.CommitRequest(database=self._database)
        write = types.CommitRequest.pb(request).writes.add()
        write.update.name = self._name(path)
        encode(fields, write.update.fields)
        if mask is not None:
            write.update_mask.field_paths.extend(mask)
        self._call(self._api.commit, request, seconds)

    def increment(self, path: str, field: str, fields: Mapping[str, Any], *, seconds: float) -> int:
        """Add one to `field` and write `fields` beside it; the sum. Never made a second time.

        Raises:
            GoogleAPICallError: it may have been written all the same.
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
            FailedPrecondition, NotFound: the document is in another version, or gone.
            GoogleAPICallError: it may have been made all the same.
        """
        [error] = self.update_all([update])
        if error:
            raise error

    def update_all(
        self, updates: Sequence[Update], seconds: float = CALL_SECONDS
    ) -> Sequence[exceptions.GoogleAPICallError | None]:
        """Make each of the updates by itself; what went wrong with it, None where nothing did.

        `FailedPrecondition` and `NotFound` tell that a document is in another version, or gone;
        `Aborted`, that the same document is updated twice here.

        Raises:
            GoogleAPICallError: the call failed; some may have been made all the same.
        """
        request = types.BatchWriteRequest(database=self._database)
        writes = types.BatchWriteRequest.pb(request).writes
        places: dict[str, int] = {}
        for place, one in enumerate(updates):
            name = self._name(one.path)
            if places.setdefault(name, place) != place:
                continue
            write = writes.add()
            write.update.name = name
            encode(one.fields, write.update.fields)
            write.update_mask.field_paths.extend((*one.fields, *one.delete))
            write.current_document.update_time.CopyFrom(one.version)
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
        """The parent of the collection at `path`, and the query of those where a field is so."""
        parent, _, collection = path.rpartition("/")
        query = types.StructuredQuery()
        query.from_ = [types.StructuredQuery.CollectionSelector(collection_id=collection)]
        if where:
            query.where = _filter(where[0], "EQUAL", where[1])
        return self._name(parent), query

    def _found(self, parent: str, query: types.StructuredQuery) -> Sequence[Any]:
        request = types.RunQueryRequest(parent=parent, structured_query=query)
        answers = self._stream(self._api.run_query, request, CALL_SECONDS)
        return [one.document for one in answers if one.HasField("document")]

    def _stream(self, method: Callable[..., Any], request: Any, seconds: float) -> Sequence[Any]:
        """All that a stream answers; read again as a whole where it breaks."""

        def whole() -> list[Any]:
            answers = method(request, retry=None, timeout=seconds, metadata=self._metadata)
            return [type(one).pb(one) for one in answers]

        answers: list[Any] = RETRY.with_timeout(seconds)(whole)()
        return answers

    def _call(self, method: Callable[..., Any], request: Any, seconds: float) -> Any:
        retry = RETRY.with_timeout(seconds)
        return method(request, retry=retry, timeout=seconds, metadata=self._metadata)


@functools.cache
def documents() -> Documents:
    """Those of this process, made on first use: a deploy reads `main.py` without credentials."""
    emulator = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if emulator:
        channel = grpc.insecure_channel(emulator, options=_NO_LIMIT)
        return Documents.at_emulator(channel, project_id() or "")
    given, project = credentials()
    return Documents(FirestoreClient(credentials=given), project_id() or project)


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
    """What a `google.rpc.Status` says, as the exception that a call of its own would raise."""
    if status.code == 0:
        return None
    error: exceptions.GoogleAPICallError = exceptions.from_grpc_status(status.code, status.message)  # type: ignore[no-untyped-call]
    return error
