"""The records of standing orders, as use cases reach them.

Every method is one round trip. Each docstring holds for every adapter, the tests' too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from functions.documents.document import Version
from functions.webhooks.recovery.standing_order import StandingOrder


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """A standing order as it was read, with the version that a save must still find."""

    order: StandingOrder
    version: Version


class StandingOrders(Protocol):
    """The standing orders of all events."""

    def load(self, event_id: str, url: str) -> StoredOrder | None:
        """The order at that URL as it is now, or None."""

    def create(self, order: StandingOrder) -> None:
        """Record the first order at a URL.

        Raises:
            AlreadyRecordedError: the URL has an order.
        """

    def save(self, order: StandingOrder, version: Version) -> None:
        """Write the order.

        Raises:
            ChangedMeanwhileError: the record is not in `version` any more.
        """

    def waiting(self, before: datetime, limit: int) -> Sequence[StoredOrder]:
        """Orders whose next look was due `before` that moment, earliest first."""
