"""A clock that stands still until a test sets it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from functions import outside


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


def tenant_of(event_id: str) -> str:
    """The tenant, which stands in the name of the event: `t1` of `e1 of t1`."""
    return event_id.rpartition(" of ")[2]
