"""Decorators for Firestore triggers and task functions, with retries on errors.

The SDK's `firestore_fn` declares a trigger, and the decorator `trigger` handles its CloudEvents.
firebase-functions 0.6.0 itself creates a Firestore client for each CloudEvent to decode its values.
That costs 3.4 ms of CPU and two requests to the metadata server, and the trigger fails if one of
the requests fails.

https://cloud.google.com/firestore/docs/extend-with-functions-2nd-gen
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cloudevents.http import CloudEvent
from firebase_functions.https_fn import FunctionsErrorCode, HttpsError
from google.events.cloud.firestore import DocumentEventData
from werkzeug.exceptions import InternalServerError

from functions import log, ports
from functions.firestore.codec import document
from functions.firestore.model import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWritten:
    """One write of a document.

    Attributes:
        id: ID of the CloudEvent, the same for every retry.
        at: Time of the write, the same for every retry.
        ids: Values of the path's wildcards by name, such as `eventId`.
        before: The document before the write, or None if the write created it.
        after: The document after the write, or None if the write deleted it.
    """

    id: str
    at: datetime
    ids: Mapping[str, str]
    before: Document | None
    after: Document | None


def trigger(declared: Any) -> Any:
    """Pass a `DocumentWritten` to the trigger `declared`, and enable Eventarc's retries.

    https://firebase.google.com/docs/functions/retries
    """
    handler: Callable[[DocumentWritten], None] = inspect.unwrap(declared)
    endpoint = declared.__firebase_endpoint__
    endpoint.eventTrigger["retry"] = True  # the SDK declares `retry: false`
    pattern: Final = endpoint.eventTrigger["eventFilterPathPatterns"]["document"]

    @functools.wraps(handler)
    def serve(event: CloudEvent) -> None:
        handler(_read(event, pattern))

    serve.__firebase_endpoint__ = endpoint  # type: ignore[attr-defined]
    return serve


def _read(event: CloudEvent, pattern: str) -> DocumentWritten:
    data = DocumentEventData.pb(DocumentEventData.deserialize(event.get_data()))
    # Not from the header `ce-document`, which Python decodes as Latin-1.
    path = (data.value.name or data.old_value.name).partition("/documents/")[2]
    old, new = (
        document(state, path) if state.name else None for state in (data.old_value, data.value)
    )
    parts = zip(pattern.split("/"), path.split("/"), strict=True)
    return DocumentWritten(
        id=event["id"],
        at=datetime.fromisoformat(event["time"]),
        ids={name[1:-1]: value for name, value in parts if name.startswith("{")},
        before=old,
        after=new,
    )


@contextmanager
def retry_on_error(message: str) -> Iterator[None]:
    """Convert exceptions to errors that cause Eventarc or Cloud Tasks to retry the function.

    Internal errors are logged by type and place only. The SDK would log the text of the error,
    which may contain personal data.

    Raises:
        HttpsError: `aborted` for `NotDueError`, so that the queue retries the task after its
            backoff. Not `unavailable`, for which Cloud Tasks would throttle the queue.
            `invalid-argument` for `MalformedTaskError`.
        InternalServerError: For every other exception.
    """
    try:
        yield
    except ports.NotDueError as early:
        raise HttpsError(FunctionsErrorCode.ABORTED, "the task is not due yet") from early
    except ports.MalformedTaskError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    except Exception as error:  # noqa: BLE001 - every error is retried
        log.fault(message, error)
        raise InternalServerError from None


def restrict_invokers(*accounts: str) -> Callable[[Any], Any]:
    """Allow only the service `accounts` that enqueue the tasks to call the function.

    Tasks carry the token of the account that enqueued them (see `cloud_tasks`). The SDK accepts the
    option `invoker` but ignores it.
    """

    def invoked(queue: Any) -> Any:
        queue.__firebase_endpoint__.taskQueueTrigger["invoker"] = list(accounts)
        return queue

    return invoked
