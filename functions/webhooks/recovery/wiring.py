"""What the schedule calls for the standing orders, put together on first use."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from functions.gcp.documents import documents
from functions.webhooks.deliveries import wiring as deliveries
from functions.webhooks.recovery.store import StandingOrderStore

if TYPE_CHECKING:
    from functions.webhooks.recovery.recoverer import Recoverer


def _now() -> datetime:
    return datetime.now(UTC)


@functools.cache
def recoverer() -> Recoverer:
    """What the schedule calls."""
    from functions.side_by_side import Threads
    from functions.webhooks.recovery.recoverer import Recoverer
    from functions.webhooks.settings.store import SettingsStore

    return Recoverer(
        orders=StandingOrderStore(documents()),
        settings=SettingsStore(documents()),
        deliveries=deliveries.store(),
        next_round=deliveries.next_round(),
        side_by_side=Threads(deliveries.AT_ONCE, "recovery"),
        now=_now,
    )
