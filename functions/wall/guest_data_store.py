"""Timers and photos of archived events in Firestore: see `guest_data`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from functions.documents.documents import Documents
from functions.documents.query import Query
from functions.documents.write import Delete, Put, Update
from functions.wall.guest_data import FIELD, GuestPhoto

_PAGE: Final = 500  # the most that one BatchWrite takes
_EVENTS: Final = 20  # of one sweep


class GuestPhotoStore:
    """See `guest_data.GuestPhotos`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `guest_data.GuestPhotos`."""
        found = self._documents.get(f"events/{event_id}", ["status", "archivedAt", FIELD])
        return found.fields if found else None

    def set_timer(self, event_id: str, at: datetime | None) -> None:
        """See `guest_data.GuestPhotos`."""
        timer = _timer(event_id)
        self._documents.commit(Put(timer, {"dueAt": at}) if at else Delete(timer))

    def due(self, now: datetime) -> Iterable[str]:
        """See `guest_data.GuestPhotos`."""
        timers = Query(
            collection="guestData",
            group=True,
            where=[("dueAt", "<=", now)],
            order=["dueAt"],
            limit=_EVENTS,
        )
        found = [(timer.path, timer.path.split("/")[1]) for timer in self._documents.find(timers)]
        return [event_id for path, event_id in found if path == _timer(event_id)]

    def page(self, event_id: str, after: str | None) -> Sequence[GuestPhoto]:
        """See `guest_data.GuestPhotos`."""
        page = Query(
            collection=f"events/{event_id}/photos",
            select=["uploaderName", "uploaderEmail"],
            limit=_PAGE,
            after=[_photo(event_id, after)] if after else [],
        )
        return [
            GuestPhoto(photo.id, photo.version, tells=any(photo.fields.values()))
            for photo in self._documents.find(page)
        ]

    def forget(self, event_id: str, photos: Sequence[GuestPhoto]) -> int:
        """See `guest_data.GuestPhotos`."""
        results = self._documents.write_each(
            [
                Update(
                    _photo(event_id, photo.id),
                    {"uploaderName": ""},
                    delete=["uploaderEmail"],
                    version=photo.version,
                )
                for photo in photos
            ]
        )
        return sum(not isinstance(result, Exception) for result in results)


def _photo(event_id: str, photo_id: str) -> str:
    return f"events/{event_id}/photos/{photo_id}"


def _timer(event_id: str) -> str:
    return f"events/{event_id}/guestData/timer"
