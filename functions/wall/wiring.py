"""The wall's own parts, put together for this process on first use."""

from functions.gcp.documents import documents
from functions.machine import CLOCK
from functions.once import once
from functions.wall.emptying import OrphanCleanup
from functions.wall.guest_data import Forgetting
from functions.wall.guest_data_store import GuestPhotoStore
from functions.wall.store import DeletedEventStore


@once
def emptying() -> OrphanCleanup:
    """Deletes the orphans of deleted events."""
    return OrphanCleanup(DeletedEventStore(documents()), CLOCK)


@once
def forgetting() -> Forgetting:
    """Forgets the guests of archived events."""
    return Forgetting(GuestPhotoStore(documents()), CLOCK)
