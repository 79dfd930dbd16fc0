"""Timers and photos of archived events in Firestore: see `guest_data`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from functions.gcp.documents import Documents, Update
from functions.gcp.firestore import CALL_SECONDS, RETRY
from functions.wall.guest_data import FIELD, GuestPhoto

_PAGE: Final = 500  # the most that one BatchWrite takes
_EVENTS: Final = 20  # of one sweep
_TIMER: Final = ("guestData", "timer")


class GuestPhotoStore:
    """See `guest_data.GuestPhotos`."""

    def __init__(self, client: firestore.Client, documents: Documents) -> None:
        """`documents` writes, `client` reads."""
        self._client = client
        self._documents = documents
        self._names = documents.names

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `guest_data.GuestPhotos`."""
        names = self._names.event
        fields = [names.of(field) for field in ("status", "archivedAt", FIELD)]
        found = self._client.document(self._names.event_path(event_id)).get(
            fields, retry=RETRY, timeout=CALL_SECONDS
        )
        read: Mapping[str, Any] | None = found.to_dict()
        return None if read is None else names.read(read)

    def set_timer(self, event_id: str, at: datetime | None) -> None:
        """See `guest_data.GuestPhotos`."""
        timer = self._client.document("events", event_id, *_TIMER)
        if at is None:
            timer.delete(retry=RETRY, timeout=CALL_SECONDS)
        else:
            timer.set({"dueAt": at}, retry=RETRY, timeout=CALL_SECONDS)

    def due(self, now: datetime) -> Iterable[str]:
        """See `guest_data.GuestPhotos`."""
        query = (
            self._client.collection_group(_TIMER[0])
            .where(filter=FieldFilter("dueAt", "<=", now))
            .order_by("dueAt")
            .limit(_EVENTS)
        )
        found = query.get(retry=RETRY, timeout=CALL_SECONDS)
        paths = [timer.reference.path.split("/") for timer in found]
        return [path[1] for path in paths if path[0] == "events" and path[2:] == list(_TIMER)]

    def page(self, event_id: str, after: str | None) -> Sequence[GuestPhoto]:
        """See `guest_data.GuestPhotos`."""
        photos = self._client.collection(self._names.photos_path(event_id))
        fields = [self._names.photo.of(field) for field in ("uploaderName", "uploaderEmail")]
        query = photos.select(fields).order_by("__name__").limit(_PAGE)
        if after is not None:
            query = query.start_after({"__name__": photos.document(after)})
        return [
            GuestPhoto(
                photo.id,
                photo.update_time.timestamp_pb(),
                tells=any((photo.to_dict() or {}).values()),
            )
            for photo in query.get(retry=RETRY, timeout=CALL_SECONDS)
        ]

    def forget(self, event_id: str, photos: Sequence[GuestPhoto]) -> int:
        """See `guest_data.GuestPhotos`."""
        names = self._names.photo
        errors = self._documents.update_all(
            [
                Update(
                    self._names.photo_path(event_id, photo.id),
                    {names.of("uploaderName"): ""},
                    photo.version,
                    delete=[names.of("uploaderEmail")],
                )
                for photo in photos
            ]
        )
        return sum(error is None for error in errors)
