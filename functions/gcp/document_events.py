"""Writes of Firestore documents, as Eventarc reports them to a trigger.

The SDK's `firestore_fn` declares a trigger; the decorator `trigger` handles its events.
firebase-functions 0.6.0 itself makes a Firestore client for each event, to decode its values: that
takes 3.4 ms of CPU and two requests to the metadata server, and the event fails where a request
fails.

https://cloud.google.com/firestore/docs/extend-with-functions-2nd-gen
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cloudevents.http import CloudEvent
from google.events.cloud.firestore import DocumentEventData

from functions.firestore.codec import document
from functions.firestore.model import Document
from functions.gcp.manifest import retried


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
    endpoint = retried(declared).__firebase_endpoint__
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
        document(found, path) if found.name else None for found in (data.old_value, data.value)
    )
    parts = zip(pattern.split("/"), path.split("/"), strict=True)
    return DocumentWritten(
        id=event["id"],
        at=datetime.fromisoformat(event["time"]),
        ids={name[1:-1]: value for name, value in parts if name.startswith("{")},
        before=old,
        after=new,
    )
