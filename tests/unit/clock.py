"""A clock that stands still until a test sets it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from functions import ports as outside
from functions.webhooks.deliveries.fair_queue import Tenants


@dataclass(slots=True)
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now

    @property
    def process(self) -> outside.Clock:
        """The clocks of a process that go with it."""
        return outside.Clock(lambda: datetime.fromtimestamp(self.now, UTC), self, lambda _: None)


class NamedTenants(Tenants):
    """Tenants that stand in the names of their events: `t1` of `e1 of t1`."""

    def __init__(self) -> None:
        """Nothing has to be looked up."""

    def of(self, event_id: str) -> str:
        """See `Tenants`."""
        return event_id.rpartition(" of ")[2]
