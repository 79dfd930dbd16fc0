"""Triggers: writes of documents as Eventarc reports them, and runs that are repeated.

The SDK's `firestore_fn` declares a trigger; the decorator `trigger` handles its events.
firebase-functions 0.6.0 itself makes a Firestore client for each event, to decode its values: that
takes 3.4 ms of CPU and two requests to the metadata server, and the event fails where a request
fails.

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

from functions import log
from functions.firestore.codec import document
from functions.firestore.model import Document
from functions.ports import MalformedTaskError, NotDueError


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWritten:
    """One write; `before` is None where it created the document, `after` where it deleted it.

    `id` and `at`, the time of the write, are the same for every repetition of the event; `ids` are
    the variables of the path.
    """

    id: str
    at: datetime
    ids: Mapping[str, str]
    before: Document | None
    after: Document | None


def trigger(declared: Any) -> Any:
    """Call the trigger `declared` with a `DocumentWritten`; Eventarc repeats a failed call.

    https://firebase.google.com/docs/functions/retries
    """
    handler: Callable[[DocumentWritten], None] = inspect.unwrap(declared)
    endpoint = declared.__firebase_endpoint__
    endpoint.eventTrigger["retry"] = True  # the SDK itself would declare `retry: false`
    pattern: Final = endpoint.eventTrigger["eventFilterPathPatterns"]["document"]

    @functools.wraps(handler)
    def serve(event: CloudEvent) -> None:
        handler(_read(event, pattern))

    serve.__firebase_endpoint__ = endpoint  # type: ignore[attr-defined]
    return serve


def _read(event: CloudEvent, pattern: str) -> DocumentWritten:
    data = DocumentEventData.pb(DocumentEventData.deserialize(event.get_data()))
    # Not from the header `ce-document`, whose bytes Python reads as Latin-1.
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
def run_again(message: str) -> Iterator[None]:
    """Fail the function on any exception, so that Eventarc or Cloud Tasks runs it again.

    A fault is logged by type and place; the SDK would log its text, which may hold personal data.

    Raises:
        HttpsError: `aborted` for `NotDueError`, so that the queue brings the task back after its
            backoff. Not `unavailable`: Cloud Tasks would throttle the queue. `invalid-argument`
            for `MalformedTaskError`.
        InternalServerError: for every other exception.
    """
    try:
        yield
    except NotDueError as early:
        raise HttpsError(FunctionsErrorCode.ABORTED, "the task is not due yet") from early
    except MalformedTaskError as error:
        raise HttpsError(FunctionsErrorCode.INVALID_ARGUMENT, str(error)) from error
    except Exception as error:  # noqa: BLE001 - every fault is run again
        log.fault(message, error)
        raise InternalServerError from None


def called_by(*accounts: str) -> Callable[[Any], Any]:
    """Let only the service `accounts`, which queue the tasks, call the function.

    Tasks carry the token of the account that queues them (see `cloud_tasks`). The SDK accepts the
    option `invoker` and drops it.
    """

    def invoked(queue: Any) -> Any:
        queue.__firebase_endpoint__.taskQueueTrigger["invoker"] = list(accounts)
        return queue

    return invoked
