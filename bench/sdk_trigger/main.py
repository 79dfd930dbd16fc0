"""The trigger of photos, with the SDK's own way to an event: a Firestore client for each."""

from typing import Any

import firebase_admin
from firebase_functions import firestore_fn

from functions.gcp.document_events import DocumentWritten, Snapshot
from functions.webhooks import handlers

firebase_admin.initialize_app()  # the SDK makes it with the first event, without a lock


@firestore_fn.on_document_written(document="events/{eventId}/photos/{photoId}")
def onPhotoWritten(event: Any) -> None:
    """Call the same handler as `main.py` does."""
    handlers.photo_written(
        DocumentWritten(
            id=event.id,
            ids=event.params,
            before=_snapshot(event.data.before),
            after=_snapshot(event.data.after),
        )
    )


def _snapshot(given: Any) -> Snapshot | None:
    if given is None:
        return None
    return Snapshot(given.to_dict(), created=given.create_time, updated=given.update_time)
