"""Single documents of Firestore: one unary call each, in the messages of its API.

For what is read and written with every delivery and look-up. The client library reads a document as
a stream, with a thread of its own, and wraps every value of it several times: two to three times
the CPU. Queries, and whatever is rare, go through the library.

https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from google.api_core import exceptions, grpc_helpers
from google.api_core.gapic_v1.routing_header import to_grpc_metadata
from google.api_core.timeout import TimeToDeadlineTimeout
from google.cloud import firestore
from google.cloud.firestore_v1 import types

from functions.gcp.firestore import CALL_SECONDS, RETRY

Version: TypeAlias = Any
"""When a document was last written, to the nanosecond: a protobuf `Timestamp`."""


def _message(wrapper: Any) -> Any:
    """The protobuf message that the library's class stands for."""
    return type(wrapper.pb(wrapper()))


_BatchGetRequest: Final = _message(types.BatchGetDocumentsRequest)
_BatchGetResponse: Final = _message(types.BatchGetDocumentsResponse)
_BatchWriteRequest: Final = _message(types.BatchWriteRequest)
_BatchWriteResponse: Final = _message(types.BatchWriteResponse)
_CommitRequest: Final = _message(types.CommitRequest)
_CommitResponse: Final = _message(types.CommitResponse)
_Document: Final = _message(types.Document)
_GetDocumentRequest: Final = _message(types.GetDocumentRequest)
_RunQueryRequest: Final = _message(types.RunQueryRequest)
_RunQueryResponse: Final = _message(types.RunQueryResponse)

_PAGE: Final = 3000  # some megabytes; read again as a whole where its stream breaks


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, its version then, and when it was made."""

    fields: Mapping[str, Any]
    version: Version
    created: datetime


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

    Values are None, bool, int, float, str, aware datetimes, and lists and mappings of values. Each
    method is one call, made again where that helps, for no longer than `seconds`.
    """

    def __init__(self, client: firestore.Client) -> None:
        """Share the `client`'s connection and credentials."""
        # The library keeps to itself what is neither a document nor a query.
        api = client._firestore_api  # noqa: SLF001
        self._database = client._database_string  # noqa: SLF001
        self._metadata = client._rpc_metadata  # noqa: SLF001
        one, many = api.transport.grpc_channel.unary_unary, api.transport.grpc_channel.unary_stream
        self._get = _method(one, "GetDocument", _GetDocumentRequest, _Document)
        self._batch_get = _method(many, "BatchGetDocuments", _BatchGetRequest, _BatchGetResponse)
        self._run_query = _method(many, "RunQuery", _RunQueryRequest, _RunQueryResponse)
        self._commit = _method(one, "Commit", _CommitRequest, _CommitResponse)
        self._batch_write = _method(one, "BatchWrite", _BatchWriteRequest, _BatchWriteResponse)

    def get(
        self, path: str, fields: Sequence[str] = (), *, seconds: float = CALL_SECONDS
    ) -> Document | None:
        """The document, or only `fields` of it; None where there is none.

        Raises:
            GoogleAPICallError: it could not be read.
        """
        request = _GetDocumentRequest(name=self._name(path))
        if fields:  # a mask without any would stand for none
            request.mask.field_paths.extend(fields)
        try:
            return _document(self._call(self._get, request, ("name", request.name), seconds))
        except exceptions.NotFound:
            return None

    def get_all(
        self, paths: Sequence[str], seconds: float = CALL_SECONDS
    ) -> Sequence[Document | None]:
        """The documents, None in the place of each that there is not.

        Raises:
            GoogleAPICallError: they could not be read.
        """
        if len(paths) == 1:
            return [self.get(paths[0], seconds=seconds)]  # costs less than a stream
        names = [self._name(path) for path in paths]
        request = _BatchGetRequest(database=self._database, documents=dict.fromkeys(names))
        answers = self._read(self._batch_get, request, ("database", self._database), seconds)
        found = {one.found.name: _document(one.found) for one in answers if one.HasField("found")}
        return [found.get(name) for name in names]

    def find(
        self, path: str, field: str, value: str, select: Sequence[str], *, page: int = _PAGE
    ) -> Iterator[tuple[str, Document]]:
        """Every document of the collection at `path` whose `field` is `value`, by id: `select`ed.

        Raises:
            GoogleAPICallError: a page of them could not be read.
        """
        parent, _, collection = path.rpartition("/")
        operator = types.StructuredQuery.FieldFilter.Operator.EQUAL
        query = types.StructuredQuery(
            select={"fields": [{"field_path": one} for one in select]},
            from_=[{"collection_id": collection}],
            where={
                "field_filter": {
                    "field": {"field_path": field},
                    "op": operator,
                    "value": {"string_value": value},
                }
            },
            order_by=[{"field": {"field_path": "__name__"}}],
            limit=page,
        )
        while True:
            request = _RunQueryRequest(
                parent=self._name(parent), structured_query=types.StructuredQuery.pb(query)
            )
            answers = self._read(self._run_query, request, ("parent", request.parent), CALL_SECONDS)
            found = [one.document for one in answers if one.HasField("document")]
            for one in found:
                yield one.name.rpartition("/")[2], _document(one)
            if len(found) < page:
                return
            last = types.Value(reference_value=found[-1].name)
            query.start_at = types.Cursor(values=[last], before=False)

    def create(self, new: Iterable[Create], *, seconds: float = CALL_SECONDS) -> None:
        """Make all of the documents, or none.

        Raises:
            AlreadyExists: one of them is there.
            GoogleAPICallError: anything else; they may have been made all the same.
        """
        request = _CommitRequest(database=self._database)
        for one in new:
            write = request.writes.add()
            write.update.name = self._name(one.path)
            _encode(one.fields, write.update.fields)
            write.current_document.exists = False
        self._call(self._commit, request, ("database", self._database), seconds)

    def update_all(
        self, updates: Sequence[Update], seconds: float = CALL_SECONDS
    ) -> Sequence[exceptions.GoogleAPICallError | None]:
        """Make each of the updates by itself; what went wrong with it, None where nothing did.

        `FailedPrecondition` and `NotFound` tell that a document is in another version, or gone;
        `Aborted`, that the same document is updated twice here.

        Raises:
            GoogleAPICallError: the call failed; some may have been made all the same.
        """
        request = _BatchWriteRequest(database=self._database)
        places: dict[str, int] = {}
        for place, one in enumerate(updates):
            name = self._name(one.path)
            if places.setdefault(name, place) != place:
                continue
            write = request.writes.add()
            write.update.name = name
            _encode(one.fields, write.update.fields)
            write.update_mask.field_paths.extend((*one.fields, *one.delete))
            write.current_document.update_time.CopyFrom(one.version)
        answer = self._call(self._batch_write, request, ("database", self._database), seconds)
        errors: list[exceptions.GoogleAPICallError | None]
        errors = [exceptions.Aborted("updated twice")] * len(updates)  # type: ignore[no-untyped-call]
        for place, status in zip(places.values(), answer.status, strict=True):
            errors[place] = _error(status)
        return errors

    def _name(self, path: str) -> str:
        return f"{self._database}/documents/{path}"

    def _read(
        self, method: Callable[..., Any], request: Any, route: tuple[str, str], seconds: float
    ) -> Sequence[Any]:
        """All that a stream answers."""

        def whole(*arguments: Any, **options: Any) -> list[Any]:
            return list(method(*arguments, **options))

        answers: list[Any] = self._call(whole, request, route, seconds)
        return answers

    def _call(
        self, method: Callable[..., Any], request: Any, route: tuple[str, str], seconds: float
    ) -> Any:
        in_time = TimeToDeadlineTimeout(seconds)(method)  # type: ignore[no-untyped-call]
        header = to_grpc_metadata((route,))  # type: ignore[no-untyped-call]
        return RETRY.with_timeout(seconds)(in_time)(request, metadata=(*self._metadata, header))


def _method(kind: Callable[..., Any], name: str, request: Any, response: Any) -> Callable[..., Any]:
    method = kind(
        f"/google.firestore.v1.Firestore/{name}",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )
    wrapped: Callable[..., Any] = grpc_helpers.wrap_errors(method)  # type: ignore[no-untyped-call]
    return wrapped


def _document(found: Any) -> Document:
    created = found.create_time.ToDatetime(UTC)
    return Document(_decoded(found.fields), found.update_time, created)


def _error(status: Any) -> exceptions.GoogleAPICallError | None:
    """What a `google.rpc.Status` says, as the exception that a call of its own would raise."""
    if status.code == 0:
        return None
    error: exceptions.GoogleAPICallError = exceptions.from_grpc_status(status.code, status.message)  # type: ignore[no-untyped-call]
    return error


def _encode(fields: Mapping[str, Any], into: Any) -> None:
    for name, value in fields.items():
        _encode_value(value, into[name])


def _encode_value(value: Any, into: Any) -> None:
    match value:
        case None:
            into.null_value = 0
        case bool():
            into.boolean_value = value
        case int():
            into.integer_value = value
        case float():
            into.double_value = value
        case str():
            into.string_value = value
        case datetime():
            into.timestamp_value.FromDatetime(value)
        case Mapping():
            into.map_value.SetInParent()
            _encode(value, into.map_value.fields)
        case Sequence():
            into.array_value.SetInParent()
            for one in value:
                _encode_value(one, into.array_value.values.add())
        case _:
            raise TypeError(type(value).__name__)


def _decoded(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _decoded_value(value) for name, value in fields.items()}


def _decoded_value(value: Any) -> Any:
    kind = value.WhichOneof("value_type")
    content = getattr(value, kind)
    match kind:
        case "null_value":
            return None
        case "timestamp_value":
            return content.ToDatetime(UTC)
        case "map_value":
            return _decoded(content.fields)
        case "array_value":
            return [_decoded_value(one) for one in content.values]
        case _:
            return content
