"""A clock that changes only when a test sets it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from functions import ports as outside
from functions.webhooks.deliveries.fair_queue import Tenants


@dataclass(slots=True)
class Clock:
    """A clock in seconds that a test sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now

    @property
    def process(self) -> outside.Clock:
        """The clocks of a process, set to this time."""
        return outside.Clock(lambda: datetime.fromtimestamp(self.now, UTC), self, lambda _: None)


class NamedTenants(Tenants):
    """Tenants that are part of their events' IDs: `t1` of `e1 of t1`."""

    def __init__(self) -> None:
        """Skip the cache and the store of the base class."""

    def of(self, event_id: str) -> str:
        """Return the last word of the event ID."""
        return event_id.rpartition(" of ")[2]
