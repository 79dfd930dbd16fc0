"""A deleted event leaves its tombstone and nothing else; its id is never given out again.

    tombstone ▸ delete the documents under the event, page by page ▸ once more ▸ mark it emptied

The event as it is now decides who may read the documents under it. No client can make an event
where a tombstone is (`firestore.rules`): another tenant's event would open the first's documents.

Each step can be repeated, and stopped anywhere: the sweep goes on until the tombstone is marked. A
function that was at work during the deletion may write another orphan; the sweep deletes it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from functions import log
from functions.clock import Clock
from functions.wall.store import DeletedEventStore
from functions.wall.time_up import TimeUpError

SETTLED: Final = timedelta(minutes=15)
"""After that time no function is at work any more that began before the deletion."""

_AT_MOST: Final = 60.0  # seconds: half of the trigger's time, for the calls that are under way then


@dataclass(frozen=True, slots=True)
class OrphanCleanup:
    """Deletes the orphans of deleted events."""

    deleted_events: DeletedEventStore
    clock: Clock

    def empty(self, event_id: str) -> None:
        """Delete the documents under an event that was deleted.

        Raises:
            TimeUpError: a minute was not enough; run it again.
        """
        self.deleted_events.put_tombstone(event_id, self.clock.now())
        self._delete_all(event_id, self.clock.monotonic() + _AT_MOST)

    def sweep(self) -> None:
        """Delete late orphans of every event that was deleted a while ago, and mark its tombstone.

        Raises:
            TimeUpError: a minute was not enough; the next sweep goes on.
        """
        until = self.clock.monotonic() + _AT_MOST
        for tombstone in self.deleted_events.deleted(self.clock.now() - SETTLED):
            self._delete_all(tombstone.id, until)
            self.deleted_events.mark_emptied(tombstone, self.clock.now())

    def _delete_all(self, event_id: str, until: float) -> None:
        deleted = 0
        while page := self.deleted_events.page(event_id):
            self.deleted_events.delete(page)
            deleted += len(page)
            if self.clock.monotonic() > until:
                raise TimeUpError
        if deleted:
            log.info("event.emptied", eventId=event_id, documents=deleted)
