"""Public prices in us-central1, in dollars; free tiers are left out."""

from dataclasses import dataclass
from typing import Final

AS_OF: Final = "2026-11"

TASK_OPERATIONS: Final = 2
"""Of a task: it is created, and it is dispatched."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for `per` units, and the page that says so."""

    dollars: float
    per: float
    url: str

    def of(self, units: float) -> float:
        """Dollars for `units`."""
        return self.dollars * units / self.per


_RUN: Final = "https://cloud.google.com/run/pricing"
_FIRESTORE: Final = "https://cloud.google.com/firestore/pricing"
CPU_SECOND: Final = Price(0.000024, 1, _RUN)
GIB_SECOND: Final = Price(0.0000025, 1, _RUN)
REQUEST: Final = Price(0.40, 1_000_000, _RUN)
READ: Final = Price(0.03, 100_000, _FIRESTORE)
WRITE: Final = Price(0.09, 100_000, _FIRESTORE)
DELETE: Final = Price(0.01, 100_000, _FIRESTORE)
STORED_GIB_MONTH: Final = Price(0.15, 1, _FIRESTORE)
TASK: Final = Price(0.40, 1_000_000, "https://cloud.google.com/tasks/pricing")
EVENT_GIB: Final = Price(40, 1024, "https://cloud.google.com/pubsub/pricing")
"""Of Eventarc's transport; its events from Google's own sources cost nothing."""
OUT_GIB: Final = Price(0.12, 1, "https://cloud.google.com/vpc/network-pricing")
LOG_GIB: Final = Price(0.50, 1, "https://cloud.google.com/stackdriver/pricing")
