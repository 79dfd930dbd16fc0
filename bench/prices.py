"""Public prices in us-central1 in dollars, without free tiers."""

from dataclasses import dataclass
from typing import Final

AS_OF: Final = "2026-11"

TASK_OPERATIONS: Final = 2
"""Billed operations of a task: its creation and its dispatch."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of `per` units in dollars, and its source."""

    dollars: float
    per: float
    url: str

    def of(self, units: float) -> float:
        """Return the price of `units`."""
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
"""Price of Eventarc's transport. Events of Google's own sources are free."""
OUT_GIB: Final = Price(0.12, 1, "https://cloud.google.com/vpc/network-pricing")
LOG_GIB: Final = Price(0.50, 1, "https://cloud.google.com/stackdriver/pricing")
