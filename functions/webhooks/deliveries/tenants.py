"""The tenant of each event, which never changes, as an instance remembers it."""

from collections.abc import Callable
from typing import Final

from functions.firestore.model import Documents
from functions.recent import Recent
from functions.wall.fields import text

_SECONDS: Final = 3600.0
"""How long it is remembered that there is no event of an id."""


class Tenants:
    """Looks a tenant up once; one instance serves all threads of the process."""

    def __init__(self, documents: Documents, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self._documents = documents
        self._kept: Recent[str, str] = Recent(seconds=_SECONDS, monotonic=monotonic)

    def of(self, event_id: str) -> str:
        """The tenant of the event; empty where there is no event (any more)."""
        kept = self._kept.get(event_id)
        if kept is None:
            event = self._documents.get(f"events/{event_id}")
            kept = text(event.fields.get("tenantId")) or "" if event else ""
            self._kept.put(event_id, value=kept)
        return kept
