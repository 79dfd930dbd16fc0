"""What the schedule calls for the standing orders, put together on first use."""

import functools
from datetime import UTC, datetime

from functions.gcp.documents import documents
from functions.side_by_side import Threads
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.recovery.recoverer import Recoverer
from functions.webhooks.recovery.store import StandingOrderStore
from functions.webhooks.settings.store import SettingsStore


@functools.cache
def recoverer() -> Recoverer:
    """What the schedule calls."""
    return Recoverer(
        orders=StandingOrderStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        next_round=deliveries.next_round(),
        side_by_side=Threads(deliveries.AT_ONCE, "recovery"),
        now=lambda: datetime.now(UTC),
    )
