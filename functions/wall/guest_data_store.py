"""Timers and photos of archived events in Firestore: see `guest_data`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from functions.firestore.model import Delete, Document, Documents, Put, Query, Update

FIELD: Final = "keepGuestDataDays"
"""Of the event."""
_EVENTS: Final = 20  # of one sweep


@dataclass(frozen=True, slots=True)
class GuestPhotoStore:
    """Events, their timers and their photos; every method is one call."""

    documents: Documents
    page_size: int = 500
    """The most writes that one BatchWrite takes."""

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """Fields of the event; None where it is not there."""
        found = self.documents.get(f"events/{event_id}", ["status", "archivedAt", FIELD])
        return found.fields if found else None

    def set_timer(self, event_id: str, at: datetime | None, after: str | None = None) -> None:
        """Write the event's timer, and the last photo that a sweep has seen; None deletes it."""
        timer = _timer(event_id)
        place = {"after": after} if after else {}
        self.documents.commit(Put(timer, {"dueAt": at} | place) if at else Delete(timer))

    def due(self, now: datetime) -> Iterable[tuple[str, str | None]]:
        """Events whose timer is due, and the last photo that a sweep has seen; oldest first."""
        timers = Query(
            collection="guestData",
            group=True,
            where=[("dueAt", "<=", now)],
            order=["dueAt"],
            limit=_EVENTS,
        )
        found = [(timer, timer.path.split("/")[1]) for timer in self.documents.find(timers)]
        return [
            (event_id, timer.fields.get("after"))
            for timer, event_id in found
            if timer.path == _timer(event_id)
        ]

    def page(self, event_id: str, after: str | None) -> Sequence[Document]:
        """Photos by id, behind `after`, with what they tell of guests; none at the end."""
        page = Query(
            collection=f"events/{event_id}/photos",
            select=["uploaderName", "uploaderEmail"],
            limit=self.page_size,
            after=[f"events/{event_id}/photos/{after}"] if after else [],
        )
        return self.documents.find(page)

    def forget(self, photos: Sequence[Document]) -> int:
        """Take name and address out of photos that are still there; out of how many."""
        results = self.documents.write_each(
            [Update(photo.path, {"uploaderName": ""}, delete=["uploaderEmail"]) for photo in photos]
        )
        return sum(not isinstance(result, Exception) for result in results)


def _timer(event_id: str) -> str:
    return f"events/{event_id}/guestData/timer"
