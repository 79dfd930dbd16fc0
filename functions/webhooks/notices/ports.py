"""The records of watched URLs, as use cases reach them.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from functions.documents.document import Version
from functions.webhooks.notices.watch import Watch


@dataclass(frozen=True, slots=True)
class StoredWatch:
    """The watch of an event as it was read, with the version that a save must still find."""

    watch: Watch
    version: Version


class Notices(Protocol):
    """Which URLs of each event are watched, and what its people have been told."""

    def load(self, event_id: str) -> StoredWatch | None:
        """The watch as it is now, or None."""

    def create(self, event_id: str, watch: Watch) -> None:
        """Record the first watch of an event.

        Raises:
            AlreadyRecordedError: the event has a watch.
        """

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """Write the watch.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """Events whose next look was due `before` that moment, earliest first."""
