"""The wall's own parts, put together for this process on first use."""

import functools
import time
from datetime import UTC, datetime

from functions.gcp.documents import documents
from functions.wall.emptying import OrphanCleanup
from functions.wall.guest_data import Forgetting
from functions.wall.guest_data_store import GuestPhotoStore
from functions.wall.public_wall import PublicWall
from functions.wall.store import DeletedEventStore


@functools.cache
def emptying() -> OrphanCleanup:
    """Deletes the orphans of deleted events."""
    return OrphanCleanup(
        deleted_events=DeletedEventStore(documents()),
        now=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
    )


@functools.cache
def forgetting() -> Forgetting:
    """Forgets the guests of archived events."""
    return Forgetting(
        photos=GuestPhotoStore(documents()),
        now=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
    )


@functools.cache
def public_wall() -> PublicWall:
    """Copies approved photos for guests."""
    return PublicWall(documents())
