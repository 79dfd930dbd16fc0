"""Photo counts that are worth a message, once each an event (spec 6.1)."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
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


def milestones_due(photo_count: int, recorded: AbstractSet[int]) -> Sequence[int]:
    """Milestones that `photo_count` has reached and that are not `recorded` yet."""
    return [n for n in MILESTONES if n <= photo_count and n not in recorded]
