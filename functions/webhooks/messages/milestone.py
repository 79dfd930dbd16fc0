"""Photo counts that are worth a message, once each an event (spec 6.1)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

MILESTONES: Final = (100, 500, 1000, 5000, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """`events/{eventId}/milestones/{number}`: when it was reached, and by which photo.

    Neither is known of a milestone that was passed; it is recorded, and nobody is notified.
    """

    number: int
    photo_id: str | None = None
    reached_at: datetime | None = None
