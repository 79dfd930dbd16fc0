"""What the triggers call: from writes in Firestore to the publisher."""

from dataclasses import replace
from typing import TYPE_CHECKING

from functions.firestore.model import Document
from functions.gcp.document_events import DocumentWritten
from functions.gcp.run_again import run_again
from functions.wall.photo import Photo
from functions.wall.wall_event import WallEvent

if TYPE_CHECKING:
    from functions.service import Service


def photo_written(service: "Service", event: DocumentWritten) -> None:
    """A write of `events/{eventId}/photos/{photoId}`."""
    before, after = _photo(event.before), _photo(event.after)
    if before and after is None:
        before = replace(before, updated_at=event.at)
    with run_again("photo.not-published"):
        service.publisher.photo_written(
            event.id,
            event.ids["eventId"],
            before,
            after,
        )


def event_written(service: "Service", event: DocumentWritten) -> None:
    """A write of `events/{eventId}`."""
    with run_again("event.not-published"):
        service.publisher.event_written(
            event.id,
            event.ids["eventId"],
            _wall_event(event.before),
            _wall_event(event.after),
        )


def _photo(snapshot: Document | None) -> Photo | None:
    if snapshot is None:
        return None
    return Photo.read(
        snapshot.id, snapshot.fields, created=snapshot.created, updated=snapshot.written
    )


def _wall_event(snapshot: Document | None) -> WallEvent | None:
    if snapshot is None:
        return None
    return WallEvent.read(snapshot.fields, updated=snapshot.written)
